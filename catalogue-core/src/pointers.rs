//! A storage or an authenticator behind an [`Arc`] or a [`Box`] is one too, also one whose type is not known.

use std::sync::Arc;

use async_trait::async_trait;
#[cfg(feature = "oauth")]
use bytes::Bytes;

use crate::admin::{
    Account, AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential,
    RemovedAccount, Visitor,
};
#[cfg(feature = "oauth")]
use crate::auth::signed::FetchKeys;
use crate::auth::{Authenticator, BearerToken, Credential, TokenDigest, Verdict};
use crate::model::{AccountId, CourseDetail};
use crate::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, NewSession,
    NewSignIn, PageRequest, Revision, Session, SignInStorage, StorageError, StorageStatus,
};
use crate::timestamp::Timestamp;

type Outcome<T> = Result<T, StorageError>;

/// Hands each of these methods on to what is behind the pointer.
macro_rules! behind {
    ($pointer:ident, $trait:ident { $(fn $method:ident($($name:ident: $of:ty),*) -> $answer:ty;)* }) => {
        #[async_trait]
        #[deny(clippy::missing_trait_methods)] // a later default method must not be lost here
        impl<T: $trait + ?Sized> $trait for $pointer<T> {
            $(
                async fn $method(&self, $($name: $of),*) -> $answer {
                    (**self).$method($($name),*).await
                }
            )*
        }
    };
}

macro_rules! all_behind {
    ($($pointer:ident)*) => {$(
        behind! { $pointer, CourseStorage {
            fn list_courses(
                account: &AccountId, page: &PageRequest, rows: &mut CourseRows<'_>
            ) -> Outcome<Option<Revision>>;
            fn find_course(account: &AccountId, slug: &str) -> Outcome<AtRevision<Option<CourseDetail>>>;
            fn revision(account: &AccountId) -> Outcome<Option<Revision>>;
        } }
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: CredentialStorage + ?Sized> CredentialStorage for $pointer<T> {
            async fn find_credential(&self, digest: &TokenDigest) -> Outcome<Option<Credential>> {
                (**self).find_credential(digest).await
            }

            async fn is_revoked(&self, digest: &TokenDigest) -> Outcome<Option<bool>> {
                (**self).is_revoked(digest).await
            }
        }
        #[async_trait]
        #[deny(clippy::missing_trait_methods)]
        impl<T: Authenticator + ?Sized> Authenticator for $pointer<T> {
            async fn authenticate(&self, token: BearerToken<'_>) -> Outcome<Verdict> {
                (**self).authenticate(token).await
            }

            fn issuer_and_audience(&self) -> Option<(&str, &str)> {
                (**self).issuer_and_audience()
            }
        }
        #[cfg(feature = "oauth")]
        behind! { $pointer, FetchKeys {
            fn fetch() -> Outcome<Bytes>;
        } }
        behind! { $pointer, KeyStorage {
            fn list_keys(account: &AccountId, now: Timestamp, ended: usize) -> Outcome<Option<Vec<CredentialRecord>>>;
            fn find_key(account: &AccountId, id: &str) -> Outcome<Option<CredentialRecord>>;
            fn create_key(key: &NewCredential, by: &Actor) -> Outcome<()>;
            fn rename_key(
                account: &AccountId, id: &str, name: &str, by: &Actor
            ) -> Outcome<Option<CredentialRecord>>;
            fn rotate_key(
                account: &AccountId, id: &str, ends_at: Timestamp, successor: &NewCredential, by: &Actor
            ) -> Outcome<Option<CredentialRecord>>;
            fn revoke_key(
                account: &AccountId, id: &str, at: Timestamp, by: &Actor
            ) -> Outcome<Option<CredentialRecord>>;
            fn list_events(account: &AccountId, most: usize) -> Outcome<Vec<CredentialEvent>>;
        } }
        behind! { $pointer, SignInStorage {
            fn create_link(link: &NewSignIn, by: &Actor) -> Outcome<()>;
            fn exchange_link(link: &TokenDigest, now: Timestamp, session: &NewSession) -> Outcome<Option<Account>>;
            fn find_session(digest: &TokenDigest) -> Outcome<Option<Session>>;
            fn end_session(digest: &TokenDigest) -> Outcome<()>;
            fn end_sign_ins(account: &AccountId, by: &Actor) -> Outcome<u64>;
        } }
        behind! { $pointer, AdminStorage {
            fn begin_import() -> Outcome<Box<dyn Import>>;
            fn export(accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Outcome<()>;
            fn list_accounts(
                accounts: Accounts<'_>, now: Timestamp, visit: &mut Visitor<'_, AccountSummary>
            ) -> Outcome<()>;
            fn remove_account(account: &AccountId) -> Outcome<Option<RemovedAccount>>;
            fn remove_course(account: &AccountId, slug: &str) -> Outcome<bool>;
            fn visit_credentials(
                accounts: Accounts<'_>, visit: &mut Visitor<'_, CredentialRecord>
            ) -> Outcome<()>;
            fn find_credential_record(id: &str) -> Outcome<Option<CredentialRecord>>;
            fn note_uses(uses: &[CredentialUse]) -> Outcome<()>;
            fn revoke_tokens(digests: &[TokenDigest], expires_at: Timestamp, at: Timestamp) -> Outcome<()>;
            fn status() -> Option<StorageStatus>;
        } }
    )*};
}
all_behind! { Arc Box }
