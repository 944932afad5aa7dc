//! [`CoursesByKey`]: courses and the credential that asks for them, by one call.

use async_trait::async_trait;

use super::{CourseRows, PageRequest, StorageError};
use crate::auth::{Credential, TokenDigest};
use crate::model::{AccountId, CourseDetail};

/// Reads courses together with the credential that asks for them, by one call.
///
/// # Contract
/// - The account is the one that the credential had when it was looked up last. A credential that is another's now, or is
///   not there, is `None`, and nothing is handed over: the courses may then be read by themselves into the same rows.
/// - A revoked or expired credential is still found, and says so.
/// - The courses are those of [`CourseStorage`](super::CourseStorage). [`Credential::revision`] is the revision that goes with
///   them, as in [`AtRevision`](super::AtRevision); `None` only where the storage keeps none.
/// - Each call sees everything that was committed before it began.
///
/// Without `#[async_trait]` above an `impl` the compiler says E0195, as for [`CredentialStorage`](super::CredentialStorage).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not read courses together with a credential: it does not implement `CoursesByKey`",
    label = "no `CoursesByKey`",
    note = "implement both methods, with `#[catalogue_core::async_trait]` above the `impl`, or leave `courses_by_key` out"
)]
#[async_trait]
pub trait CoursesByKey: Send + Sync {
    /// Does what [`list_courses`](super::CourseStorage::list_courses) does, and finds the credential with that digest.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn list_courses_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Credential>, StorageError>;

    /// Does what [`find_course`](super::CourseStorage::find_course) does, and finds the credential with that digest.
    ///
    /// # Errors
    /// When the storage cannot answer now.
    async fn find_course_by_key(
        &self,
        digest: &TokenDigest,
        account: &AccountId,
        slug: &str,
    ) -> Result<Option<(Credential, Option<CourseDetail>)>, StorageError>;
}
