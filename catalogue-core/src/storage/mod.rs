//! What the catalogue asks of a storage: small traits that know no HTTP, no cursor and no token.

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
pub use views::{CheckedRows, CourseViews, ViewAdvice, ViewFault};

use crate::model::{AccountId, CourseDetail, Credential, TokenDigest};
pub use crate::model::{AtRevision, Revision};

/// Reads courses for the API.
///
/// # Contract
/// - Every read names its account; a course of somebody else is answered like one that does not exist.
/// - Lists are ordered by creation time, newest first, ties by slug, descending, both compared byte by byte. A page
///   starts right after `page.after`, whether or not a course still stands there. Courses that are unpublished or hidden are listed.
/// - A walk from page to page repeats no course and skips none that was there throughout. For that a course keeps its
///   creation time and slug: one that is given another counts as deleted and created.
/// - Slugs have 1 to 200 bytes of UTF-8, no `/` and no control character, and are unique within their account.
/// - Modules are in order, numbered from 1. Their bodies are never read.
/// - Each call sees one state of the data, and everything that was committed before it began. It fails when the storage cannot
///   answer now, which is answered 500.
/// - Calls may run at the same time and may be dropped before they finish.
///
/// A call runs on the task of its request. Where it blocks the thread for longer than a look-up in an index, run it on
/// the runtime's blocking threads and bound how many run at once, since a dropped call leaves its work running.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::storage::{
///     AtRevision, CourseRow, CourseRows, CourseStorage, PageRequest, Position, Revision, StorageError,
/// };
/// use catalogue_core::{AccountId, CourseDetail, Timestamp, async_trait};
///
/// /// A host's courses in a map.
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
    message = "`{Self}` is no storage of courses: it does not implement `CourseStorage`",
    label = "no `CourseStorage`",
    note = "implement `list_courses` and `find_course`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait CourseStorage: fmt::Debug + Send + Sync + 'static {
    /// Hands the page of `account`'s courses that `page` asks for to `rows`, in the list's order, with one course more
    /// where there is one ([`PageRequest::rows`]), and returns the account's [revision](Self::revision) as in
    /// [`AtRevision`]. An unknown account has no courses.
    ///
    /// No row can be taken back: hand over each once, and collect them first where a read may be repeated. Of a call that fails
    /// no row is used.
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError>;

    /// One course of `account` with its module headers, or `None`, and the account's [revision](Self::revision).
    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError>;

    /// The revision of `account`'s courses, or `None` where the storage keeps none.
    ///
    /// A revision is replaced by a fresh one in the transaction of every change to the account's courses or modules, and
    /// is never used again for other content, of this account or another. A change to one account leaves the others', unless
    /// the storage can only tell whether anything has changed: then it replaces all of them.
    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let _ = account;
        Ok(None)
    }
}

/// Finds credentials for the built-in authenticator, [`StoredCredentials`](crate::auth::StoredCredentials).
///
/// # Contract
/// - A credential is found by the digest of its whole token and in no other way.
/// - A revoked or expired credential is still found, and says so.
/// - Each call sees everything that was committed before it began. It fails when the storage cannot answer now, which is
///   answered 500.
///
/// Where the same storage keeps [revisions](CourseStorage::revision) and is passed to
/// [`Catalogue::with_api_keys`](crate::Catalogue::with_api_keys), set [`Credential::revision`]: else each request for
/// courses costs one more call.
///
/// Tokens may have any form that RFC 6750 allows; those that begin like the keys of [`NewToken`](crate::auth::NewToken)
/// must have their checksum too. [`BearerToken::digest`](crate::auth::BearerToken::digest) makes the digest of one that
/// the host has made by itself.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::auth::{Credential, CredentialKind, Identity, NewToken, Scopes, TokenDigest};
/// use catalogue_core::storage::{CredentialStorage, StorageError};
/// use catalogue_core::{AccountId, async_trait};
///
/// /// A host's keys in a map.
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
/// // A new key: its owner sees it once, and the digest stays.
/// let key = NewToken::mint(CredentialKind::ApiKey);
/// let identity = Identity::api_key(AccountId::new("acc_1"), "key_1", Scopes::from_names(["read:courses"]));
/// let mut keys = Keys::default();
/// keys.0.insert(key.digest(), Credential::new(identity));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` looks no API keys up: it does not implement `CredentialStorage`",
    label = "no `CredentialStorage`",
    note = "for keys in the same storage implement `find_credential`, with `#[catalogue_core::async_trait]` above the `impl`",
    note = "for callers that are known in another way build with `Catalogue::builder(courses, authenticator)`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait CredentialStorage: fmt::Debug + Send + Sync + 'static {
    /// The credential whose token has that digest, or `None`.
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError>;

    /// Whether the signed token with that digest was revoked here (decision O29), or `None` where the storage keeps no
    /// revocations of signed tokens.
    ///
    /// With the feature `oauth` it is asked for each token in the form of a signed one, and where it does not say `None`,
    /// in the place of [`find_credential`](Self::find_credential): no credential of such a storage has that form.
    /// [`AdminStorage::revoke_tokens`](crate::admin::AdminStorage::revoke_tokens) revokes one.
    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        let _ = digest;
        Ok(None)
    }
}
