//! A memory storage whose calls can be replaced by flawed ones.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::admin::{
    Account, AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential,
    RemovedAccount, Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage,
    NewSession, NewSignIn, PageRequest, Revision, Session, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, CourseDetail, Timestamp, async_trait};

pub(crate) use crate::memory::{
    accounts, all_credentials, begin, courses, create, create_link, credential, credentials, end_session, events,
    exchange, find, is_revoked, key, keys, list, record, record_uses, records, remove, remove_account, rename, revoke,
    revoke_tokens, rotate, run, session, sign_out, summaries,
};

/// Value that a revision is returned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Page,
    Course,
}

/// Defines a struct of calls, each with a method that replaces it.
macro_rules! replaceable {
    ($(#[$doc:meta])* $name:ident { $($call:ident: fn($($argument:ty),*) $(-> $result:ty)? = $default:expr;)* }) => {
        $(#[$doc])*
        pub(crate) struct $name {
            memory: MemoryStorage,
            permits: Option<AtomicUsize>,
            $($call: Box<dyn Fn(&MemoryStorage, $($argument),*) $(-> $result)? + Send + Sync>,)*
        }

        impl $name {
            pub(crate) fn new() -> Self {
                Self { memory: MemoryStorage::new(), permits: None, $($call: Box::new($default),)* }
            }

            $(
                pub(crate) fn $call(
                    mut self,
                    call: impl Fn(&MemoryStorage, $($argument),*) $(-> $result)? + Send + Sync + 'static,
                ) -> Self {
                    self.$call = Box::new(call);
                    self
                }
            )*
        }
    };
}

replaceable! {
    /// A storage whose calls are forwarded to a memory storage, except replaced ones.
    Broken {
        list: fn(&AccountId, &PageRequest, &mut CourseRows<'_>) = list;
        find: fn(&AccountId, &str) -> Option<CourseDetail> = find;
        returned_revision: fn(Read, Option<Revision>) -> Option<Revision> = |_, _, revision| revision;
        revision: fn(&AccountId) -> Option<Revision> = |memory, account| run(memory.revision(account)).unwrap();
        credential: fn(&TokenDigest) -> Option<Credential> = credential;
        begin: fn() -> Result<Box<dyn Import>, StorageError> = begin;
        export: fn(Accounts<'_>, &mut Visitor<'_>) = |memory, accounts, visit| run(memory.export(accounts, visit)).unwrap();
        summaries: fn(Accounts<'_>, Timestamp) -> Vec<AccountSummary> = summaries;
        remove_account: fn(&AccountId) -> Option<RemovedAccount> = remove_account;
        remove: fn(&AccountId, &str) -> Result<bool, StorageError> = remove;
        all_credentials: fn(Accounts<'_>) -> Vec<CredentialRecord> = all_credentials;
        record: fn(&str) -> Option<CredentialRecord> = record;
        record_uses: fn(&[CredentialUse]) -> Result<(), StorageError> = record_uses;
        revoked: fn(&TokenDigest) -> Option<bool> = is_revoked;
        revoke_tokens: fn(&[TokenDigest], Timestamp, Timestamp) -> Result<(), StorageError> = revoke_tokens;
        keys: fn(&AccountId, Timestamp, usize) -> Option<Vec<CredentialRecord>> = keys;
        key: fn(&AccountId, &str) -> Option<CredentialRecord> = key;
        create: fn(&NewCredential, &Actor) -> Result<(), StorageError> = create;
        rename: fn(&AccountId, &str, &str, &Actor) -> Option<CredentialRecord> = rename;
        rotate: fn(&AccountId, &str, Timestamp, &NewCredential, &Actor) -> Result<Option<CredentialRecord>, StorageError> = rotate;
        revoke: fn(&AccountId, &str, Timestamp, &Actor) -> Option<CredentialRecord> = revoke;
        events: fn(&AccountId, usize) -> Vec<CredentialEvent> = events;
        create_link: fn(&NewSignIn, &Actor) -> Result<(), StorageError> = create_link;
        exchange: fn(&TokenDigest, Timestamp, &NewSession) -> Option<Account> = exchange;
        session: fn(&TokenDigest) -> Option<Session> = session;
        end_session: fn(&TokenDigest) = end_session;
        sign_out: fn(&AccountId, &Actor) -> u64 = sign_out;
    }
}

impl Broken {
    /// Makes lists of courses and lookups of credentials take one of `permits` permits. Dropped calls do not return theirs.
    pub(crate) fn permits(mut self, permits: usize) -> Self {
        self.permits = Some(AtomicUsize::new(permits));
        self
    }

    async fn with_permit(&self) -> Result<(), StorageError> {
        if let Some(permits) = &self.permits {
            let taken = permits.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |permits| permits.checked_sub(1));
            taken.map_err(|_| StorageError::new(StorageErrorKind::Unavailable, "no permits"))?;
            tokio::task::yield_now().await;
            permits.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Broken(..)")
    }
}

#[async_trait]
impl CourseStorage for Broken {
    async fn list_courses(
        &self,
        account: &AccountId,
        page: &PageRequest,
        rows: &mut CourseRows<'_>,
    ) -> Result<Option<Revision>, StorageError> {
        self.with_permit().await?;
        (self.list)(&self.memory, account, page, rows);
        Ok((self.returned_revision)(&self.memory, Read::Page, (self.revision)(&self.memory, account)))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let value = (self.find)(&self.memory, account, slug);
        let revision = (self.returned_revision)(&self.memory, Read::Course, (self.revision)(&self.memory, account));
        Ok(AtRevision { value, revision })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        Ok((self.revision)(&self.memory, account))
    }
}

#[async_trait]
impl CredentialStorage for Broken {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.with_permit().await?;
        Ok((self.credential)(&self.memory, digest))
    }

    async fn is_revoked(&self, digest: &TokenDigest) -> Result<Option<bool>, StorageError> {
        Ok((self.revoked)(&self.memory, digest))
    }
}

#[async_trait]
impl AdminStorage for Broken {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        (self.begin)(&self.memory)
    }

    async fn export(&self, accounts: Accounts<'_>, visit: &mut Visitor<'_>) -> Result<(), StorageError> {
        (self.export)(&self.memory, accounts, visit);
        Ok(())
    }

    async fn list_accounts(
        &self,
        accounts: Accounts<'_>,
        now: Timestamp,
        visit: &mut Visitor<'_, AccountSummary>,
    ) -> Result<(), StorageError> {
        let _ = (self.summaries)(&self.memory, accounts, now).into_iter().try_for_each(visit);
        Ok(())
    }

    async fn remove_account(&self, account: &AccountId) -> Result<Option<RemovedAccount>, StorageError> {
        Ok((self.remove_account)(&self.memory, account))
    }

    async fn remove_course(&self, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
        (self.remove)(&self.memory, account, slug)
    }

    async fn visit_credentials(
        &self,
        accounts: Accounts<'_>,
        visit: &mut Visitor<'_, CredentialRecord>,
    ) -> Result<(), StorageError> {
        let _ = (self.all_credentials)(&self.memory, accounts).into_iter().try_for_each(visit);
        Ok(())
    }

    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.record)(&self.memory, id))
    }

    async fn record_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        (self.record_uses)(&self.memory, uses)
    }

    async fn revoke_tokens(
        &self,
        digests: &[TokenDigest],
        expires_at: Timestamp,
        at: Timestamp,
    ) -> Result<(), StorageError> {
        (self.revoke_tokens)(&self.memory, digests, expires_at, at)
    }
}

#[async_trait]
impl KeyStorage for Broken {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        Ok((self.keys)(&self.memory, account, now, ended))
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.key)(&self.memory, account, id))
    }

    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        (self.create)(&self.memory, key, by)
    }

    async fn rename_key(
        &self,
        account: &AccountId,
        id: &str,
        name: &str,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.rename)(&self.memory, account, id, name, by))
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        (self.rotate)(&self.memory, account, id, ends_at, successor, by)
    }

    async fn revoke_key(
        &self,
        account: &AccountId,
        id: &str,
        at: Timestamp,
        by: &Actor,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.revoke)(&self.memory, account, id, at, by))
    }

    async fn list_events(&self, account: &AccountId, limit: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        Ok((self.events)(&self.memory, account, limit))
    }
}

#[async_trait]
impl SignInStorage for Broken {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        (self.create_link)(&self.memory, link, by)
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        Ok((self.exchange)(&self.memory, link, now, session))
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        Ok((self.session)(&self.memory, digest))
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        (self.end_session)(&self.memory, digest);
        Ok(())
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        Ok((self.sign_out)(&self.memory, account, by))
    }
}
