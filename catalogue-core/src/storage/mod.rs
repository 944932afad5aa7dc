//! Interfaces to storages: small traits that are independent of HTTP, cursors and tokens.

pub(crate) mod admin;
mod course_list;
mod error;
mod keys;
mod memory;
mod paging;
mod sign_ins;
mod status;
pub mod views;

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;

pub use course_list::{CourseRow, Position};
pub use error::{StorageError, StorageErrorKind};
pub use keys::{Actor, CredentialAction, CredentialEvent, KeyStorage, MAX_REMOVED, MAX_RENAMES, RETENTION};
pub use memory::MemoryStorage;
pub use paging::{CourseRows, Limit, PageRequest};
pub use sign_ins::{MAX_SESSIONS, NewSession, NewSignIn, Session, SignInStorage};
pub use status::{Connections, ReplicaStatus, StorageStatus};
pub use views::{CheckedRows, CourseViews, ViewAdvice, ViewProblem};

use crate::model::{AccountId, CourseDetail, Credential, TokenDigest};
pub use crate::model::{AtRevision, Revision};

/// Storage of courses, as the API reads them.
///
/// # Contract
/// - Every read is scoped to an account. Another account's course has the same result as one that does not exist.
/// - Lists are ordered by creation time, newest first, ties by slug, descending, compared byte by byte. A page starts
///   right after `page.after`, whether or not a course is still there. Unpublished and hidden courses are listed.
/// - Paging through the list neither repeats a course nor skips one that existed throughout. A course whose creation time
///   or slug changes counts as deleted and created.
/// - Slugs have 1 to 200 bytes of UTF-8, no `/` and no control character ([`is_slug`](crate::is_slug)), and are unique
///   within their account. Do not list other courses: no request can find them.
/// - Modules are in order, numbered from 1. Their bodies are never read.
/// - Each call sees one snapshot of the data, and everything that was committed before it began. It fails if the
///   storage cannot respond now; the request then gets a 500.
/// - Calls may run concurrently and may be dropped before they finish.
///
/// A call runs on the task of its request. If it blocks the thread for longer than an index lookup, run it on the
/// runtime's blocking threads. Limit how many run concurrently there: a dropped call leaves its work running.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::storage::{
///     AtRevision, CourseRow, CourseRows, CourseStorage, PageRequest, Position, Revision, StorageError,
/// };
/// use catalogue_core::{AccountId, CourseDetail, Timestamp, async_trait};
///
/// /// A host application's courses in a map.
/// #[derive(Debug)]
/// struct Courses(HashMap<AccountId, Vec<(Timestamp, CourseDetail)>>);
///
/// #[async_trait]
/// impl CourseStorage for Courses {
///     async fn list_courses(
///         &self,
///         account: &AccountId,
///         page: &PageRequest,
///         rows: &mut CourseRows<'_>,
///     ) -> Result<Option<Revision>, StorageError> {
///         let mut courses: Vec<_> = self.0.get(account).into_iter().flatten()
///             .map(|(created_at, course)| (Position { created_at: *created_at, slug: course.slug.clone() }, course))
///             .filter(|(position, _)| page.after.as_ref().is_none_or(|after| position < after))
///             .collect();
///         courses.sort_by(|(one, _), (two, _)| two.cmp(one));
///         for (position, course) in &courses {
///             let row = CourseRow {
///                 slug: &course.slug,
///                 title: &course.title,
///                 language: &course.language,
///                 published_at: course.published_at,
///                 hidden: course.hidden,
///                 module_count: course.modules.len() as u32,
///             };
///             if rows.push(row, || position.clone()).is_break() {
///                 break;
///             }
///         }
///         Ok(None)
///     }
///
///     async fn find_course(
///         &self,
///         account: &AccountId,
///         slug: &str,
///     ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
///         let courses = self.0.get(account);
///         let found = courses.and_then(|all| all.iter().find(|(_, course)| course.slug == slug));
///         Ok(found.map(|(_, course)| course.clone()).into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a course storage: it does not implement `CourseStorage`",
    label = "not a `CourseStorage`",
    note = "implement `list_courses` and `find_course`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait CourseStorage: fmt::Debug + Send + Sync + 'static {
    /// Passes the requested page of `account`'s courses to `rows`, in the list's order, with one more course if there is
    /// one ([`PageRequest::rows`]). Returns the account's [revision](Self::revision) as in [`AtRevision`]. An unknown
    /// account has no courses. Signature: `async fn list_courses(&self, account: &AccountId, page: &PageRequest, rows: &mut
    /// CourseRows<'_>) -> Result<Option<Revision>, StorageError>`
    ///
    /// A row cannot be taken back: pass each only once, and collect the rows first if a read may be repeated. The rows of a
    /// failed call are not used.
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError>;

    /// Returns one course of `account` with its module headers, or `None`, and the account's [revision](Self::revision).
    /// Signature: `async fn find_course(&self, account: &AccountId, slug: &str) -> Result<AtRevision<Option<CourseDetail>>,
    /// StorageError>`
    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError>;

    /// Returns the revision of `account`'s courses, or `None` if the storage has no revisions.
    /// Signature: `async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError>`
    ///
    /// Every change to the account's courses or modules replaces the revision in the same transaction: while it stays the
    /// same, the catalogue returns cached responses, so they are stale after a change that does not replace it. A revision
    /// is never used again for other content, of this account or another. A change to one account does not change the
    /// revisions of others, unless the storage can only detect that anything has changed: then it replaces all of them.
    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let _ = account;
        Ok(None)
    }
}

/// Storage of credentials for the built-in authenticator, [`StoredCredentials`](crate::auth::StoredCredentials).
///
/// # Contract
/// - A credential can be found only by the digest of its whole token.
/// - A revoked or expired credential is still returned, with its revocation or expiry.
/// - Each call sees everything that was committed before it began. It fails if the storage cannot respond now; the request
///   then gets a 500.
///
/// If the same storage has [revisions](CourseStorage::revision) and is passed to
/// [`Catalogue::with_api_keys`](crate::Catalogue::with_api_keys), set [`Credential::revision`]: otherwise, each request
/// for courses costs one more call.
///
/// Tokens may have any format that RFC 6750 allows; those with the prefix of [`NewToken`](crate::auth::NewToken)'s keys
/// must also have a valid checksum. [`BearerToken::digest`](crate::auth::BearerToken::digest) returns the digest of a
/// token that the host application has generated itself.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::admin::NewCredential;
/// use catalogue_core::auth::{Credential, Scopes, TokenDigest};
/// use catalogue_core::storage::{CredentialStorage, StorageError};
/// use catalogue_core::{AccountId, async_trait};
///
/// /// A host application's keys in a map.
/// #[derive(Debug, Default)]
/// struct Keys(HashMap<TokenDigest, Credential>);
///
/// #[async_trait]
/// impl CredentialStorage for Keys {
///     async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
///         Ok(self.0.get(digest).cloned())
///     }
/// }
///
/// // A new key: its owner sees the token once, and only the digest is stored.
/// let scopes = Scopes::from_names(["read:courses"]);
/// let (token, key) = NewCredential::api_key(AccountId::new("acc_1"), "partner", scopes);
/// let keys = Keys(HashMap::from([(key.digest, Credential::new(key.record.identity))]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot look up API keys: it does not implement `CredentialStorage`",
    label = "not a `CredentialStorage`",
    note = "for keys in the same storage, implement `find_credential`, with `#[catalogue_core::async_trait]` above the `impl`",
    note = "for another way to authenticate, build with `Catalogue::builder(courses, authenticator)`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait CredentialStorage: fmt::Debug + Send + Sync + 'static {
    /// Returns the credential whose token has `digest`, or `None`.
    /// Signature: `async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError>`
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError>;

    /// Returns whether the signed token with `digest` was revoked here (decision O29), or `None` if the storage holds no
    /// revocations. Signature: `async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError>`
    ///
    /// With the feature `oauth`, it is called for each token in the format of a signed one. Unless it returns `None`,
    /// [`find_credential`](Self::find_credential) is not called: no credential of such a storage has that format.
    /// [`AdminStorage::revoke_tokens`](crate::admin::AdminStorage::revoke_tokens) revokes tokens.
    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let _ = digest;
        Ok(None)
    }
}
