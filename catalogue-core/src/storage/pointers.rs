//! A storage behind an [`Arc`] or a [`Box`] is a storage too, also one whose type is not known.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    AdminStorage, AtRevision, CourseStorage, CourseVisitor, CredentialRecord, CredentialStorage, CredentialUse, Import,
    NewCredential, Revision, StorageError, Visitor,
};
use crate::auth::{Credential, TokenDigest};
use crate::model::{AccountId, CourseDetail, CourseListItem};
use crate::paging::{Page, PageRequest, Position};
use crate::timestamp::Timestamp;

macro_rules! storages_behind {
    ($($pointer:ident)*) => {$(
        #[async_trait]
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: CourseStorage + ?Sized> CourseStorage for $pointer<T> {
            async fn list_courses(
                &self,
                account: &AccountId,
                page: &PageRequest,
            ) -> Result<Page<CourseListItem>, StorageError> {
                (**self).list_courses(account, page).await
            }

            async fn visit_courses(
                &self,
                account: &AccountId,
                page: &PageRequest,
                visit: &mut CourseVisitor<'_>,
            ) -> Result<AtRevision<Option<Position>>, StorageError> {
                (**self).visit_courses(account, page, visit).await
            }

            async fn find_course(&self, account: &AccountId, slug: &str) -> Result<Option<CourseDetail>, StorageError> {
                (**self).find_course(account, slug).await
            }

            async fn find_course_at_revision(
                &self,
                account: &AccountId,
                slug: &str,
            ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
                (**self).find_course_at_revision(account, slug).await
            }

            async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
                (**self).revision(account).await
            }
        }

        #[async_trait]
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: CredentialStorage + ?Sized> CredentialStorage for $pointer<T> {
            async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
                (**self).find_credential(digest).await
            }
        }

        #[async_trait]
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: AdminStorage + ?Sized> AdminStorage for $pointer<T> {
            async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
                (**self).begin_import().await
            }

            async fn export(&self, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
                (**self).export(visit).await
            }

            async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
                (**self).remove_course(account, slug).await
            }

            async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
                (**self).create_credential(credential).await
            }

            async fn list_credentials(
                &self,
                account: &AccountId,
            ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
                (**self).list_credentials(account).await
            }

            async fn revoke_credential(
                &self,
                id: &str,
                at: Timestamp,
            ) -> Result<Option<CredentialRecord>, StorageError> {
                (**self).revoke_credential(id, at).await
            }

            async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
                (**self).find_credential_record(id).await
            }

            async fn rotate_credential(
                &self,
                id: &str,
                ends_at: Timestamp,
                successor: &NewCredential,
            ) -> Result<Option<CredentialRecord>, StorageError> {
                (**self).rotate_credential(id, ends_at, successor).await
            }

            async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
                (**self).note_uses(uses).await
            }
        }
    )*};
}
storages_behind! { Arc Box }
