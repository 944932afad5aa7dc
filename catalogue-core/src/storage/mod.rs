//! What the catalogue asks of a storage: small traits that know no HTTP, no cursor and no token.

mod admin;
mod error;
mod memory;
mod pointers;

use std::fmt;

use async_trait::async_trait;

pub use admin::{
    Account, AdminStorage, Change, Course, CourseModule, CredentialRecord, CredentialUse, Import, NewCredential,
    Record, Visitor,
};
pub use error::{StorageError, StorageErrorKind};
pub use memory::MemoryStorage;

use crate::auth::{Credential, TokenDigest};
use crate::model::{AccountId, CourseDetail, CourseListItem, CourseRow};
use crate::paging::{Page, PageRequest, Position};

/// Reads courses for the API.
///
/// # Contract
/// - Every read names its account; a course of somebody else is answered like one that does not exist.
/// - Lists are ordered by creation time, newest first, ties by slug, descending, both compared byte by byte. A page
///   starts right after `page.after`, whether or not a course still stands there, and its `next` is `None` exactly when
///   no further course exists. Courses that are unpublished or hidden are listed.
/// - A walk from page to page repeats no course and skips none that was there throughout. For that a course keeps its
///   creation time and slug: one that is given another counts as deleted and created.
/// - Slugs have 1 to 200 bytes of UTF-8, no `/` and no control character, and are unique within their account.
/// - Modules are in order, numbered from 1. Their bodies are never read.
/// - Each call sees one state of the data, and everything that was committed before it began.
/// - Calls may run at the same time and may be dropped before they finish.
///
/// A call runs on the task of its request. What blocks the thread for longer than a look-up in an index belongs on the
/// runtime's threads for blocking work, so many at a time at most, as a call that was dropped leaves its work behind.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::{
///     AccountId, CourseDetail, CourseListItem, CourseStorage, Page, PageRequest, Position, StorageError, Timestamp,
///     async_trait,
/// };
///
/// /// A host's courses in a map.
/// #[derive(Debug)]
/// struct Courses(HashMap<AccountId, Vec<(Timestamp, CourseDetail)>>);
///
/// #[async_trait]
/// impl CourseStorage for Courses {
///     async fn list_courses(&self, account: &AccountId, page: &PageRequest) -> Result<Page<CourseListItem>, StorageError> {
///         let mut rows: Vec<_> = self.0.get(account).into_iter().flatten()
///             .map(|(created_at, course)| (Position { created_at: *created_at, slug: course.slug.clone() }, course))
///             .filter(|(position, _)| page.after.as_ref().is_none_or(|after| position < after))
///             .collect();
///         rows.sort_by(|(one, _), (two, _)| two.cmp(one));
///         let rows = rows.into_iter().map(|(position, course)| {
///             let item = CourseListItem {
///                 slug: course.slug.clone(),
///                 title: course.title.clone(),
///                 language: course.language.clone(),
///                 published_at: course.published_at,
///                 hidden: course.hidden,
///                 module_count: course.modules.len() as u32,
///             };
///             (item, position.created_at)
///         });
///         Ok(Page::from_rows(rows, page.limit))
///     }
///
///     async fn find_course(&self, account: &AccountId, slug: &str) -> Result<Option<CourseDetail>, StorageError> {
///         let courses = self.0.get(account);
///         Ok(courses.and_then(|all| all.iter().find(|(_, course)| course.slug == slug)).map(|(_, course)| course.clone()))
///     }
/// }
/// ```
#[async_trait]
pub trait CourseStorage: fmt::Debug + Send + Sync + 'static {
    /// The page of `account`'s courses that `page` asks for; an unknown account has none.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn list_courses(&self, account: &AccountId, page: &PageRequest)
    -> Result<Page<CourseListItem>, StorageError>;

    /// The same page row by row: hands each of its courses to `visit`, in the list's order, and returns the place of the
    /// last one when more courses follow, `None` exactly when none does, with the account's [revision](Self::revision).
    ///
    /// The API reads lists by this method alone. By default it calls [`list_courses`](Self::list_courses) and then
    /// [`revision`](Self::revision); whoever overrides it hands over the same courses, at most as many as were asked for,
    /// with the same next place. That is worth it where the rows' texts are in memory while they are read: they then need no
    /// copy. A storage that wraps another and changes what is listed changes both.
    ///
    /// # Errors
    /// When the storage cannot answer now. What was handed over until then is not used.
    async fn visit_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        visit: &mut CourseVisitor<'_>,
    ) -> Result<AtRevision<Option<Position>>, StorageError> {
        let page = self.list_courses(account, page).await?;
        page.items.iter().for_each(|item| visit(item.row()));
        Ok(AtRevision { value: page.next, revision: self.revision(account).await? })
    }

    /// One course of `account` with its module headers, or `None`.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn find_course(&self, account: &AccountId, slug: &str) -> Result<Option<CourseDetail>, StorageError>;

    /// The same course with the account's [revision](Self::revision). The API reads courses by this method alone. By default
    /// it calls [`find_course`](Self::find_course) and then [`revision`](Self::revision); a storage that reads both at once
    /// overrides it.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn find_course_at_revision(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let value = self.find_course(account, slug).await?;
        Ok(AtRevision { value, revision: self.revision(account).await? })
    }

    /// The revision of `account`'s courses, or `None` where the storage keeps none.
    ///
    /// A revision is replaced by a fresh one in the transaction of every change to the account's courses or modules, and
    /// is never used again for other content, of this account or another. A change to one account leaves the others'.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        let _ = account;
        Ok(None)
    }
}

/// What was read of an account's courses, with the revision that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtRevision<T> {
    /// What was read.
    pub value: T,
    /// The account's revision at the moment of reading or later, by the same server of the database; never one of before.
    /// `None` where the storage keeps none, or cannot tell: the answer is then right, and not kept.
    pub revision: Option<Revision>,
}

/// What takes the rows of a page, one by one.
pub type CourseVisitor<'v> = dyn FnMut(CourseRow<'_>) + Send + 'v;

/// Finds credentials for the built-in authenticator, [`StoredCredentials`](crate::StoredCredentials).
///
/// # Contract
/// - A credential is found by the digest of its whole token and in no other way.
/// - A revoked or expired credential is still found, and says so.
/// - Each call sees everything that was committed before it began.
///
/// Tokens may have any form that RFC 6750 allows; those that begin like the keys of [`NewToken`](crate::NewToken) must have
/// their checksum too. [`BearerToken::digest`](crate::BearerToken::digest) makes the digest of one that the host has made
/// by itself.
///
/// ```
/// use std::collections::HashMap;
///
/// use catalogue_core::{
///     AccountId, Credential, CredentialKind, CredentialStorage, Identity, NewToken, Scopes, StorageError, TokenDigest,
///     async_trait,
/// };
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
#[async_trait]
pub trait CredentialStorage: fmt::Debug + Send + Sync + 'static {
    /// The credential whose token has that digest, or `None`.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError>;
}

/// Stands for the state of one account's courses: equal only where the courses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision([u8; 16]);

impl Revision {
    /// The revision of those bytes, which a storage draws at random for every change.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The revision's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}
