//! A memory storage of which single calls can be replaced by flawed ones.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, RemovedAccount,
    Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, CourseDetail, Timestamp, async_trait};

pub(crate) use crate::memory::{
    accounts, all_credentials, begin, courses, create, credential, credentials, find, list, note, now, record, records,
    remove, remove_account, revoke, rotate, summaries,
};

/// What a revision comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    Page,
    Course,
}

/// A struct of calls, each with a method that replaces it.
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
    /// What is not replaced is the memory storage's own.
    Broken {
        list: fn(&AccountId, &PageRequest, &mut CourseRows<'_>) = list;
        find: fn(&AccountId, &str) -> Option<CourseDetail> = find;
        brought: fn(Read, Option<Revision>) -> Option<Revision> = |_, _, revision| revision;
        revision: fn(&AccountId) -> Option<Revision> = |memory, account| now(memory.revision(account)).unwrap();
        credential: fn(&TokenDigest) -> Option<Credential> = credential;
        begin: fn() -> Result<Box<dyn Import>, StorageError> = begin;
        export: fn(Accounts<'_>, &mut Visitor<'_>) = |memory, accounts, visit| now(memory.export(accounts, visit)).unwrap();
        summaries: fn(Accounts<'_>, Timestamp) -> Vec<AccountSummary> = summaries;
        remove_account: fn(&AccountId) -> Option<RemovedAccount> = remove_account;
        remove: fn(&AccountId, &str) -> Result<bool, StorageError> = remove;
        create: fn(&NewCredential) -> Result<(), StorageError> = create;
        credentials: fn(&AccountId) -> Option<Vec<CredentialRecord>> = credentials;
        all_credentials: fn() -> Vec<CredentialRecord> = all_credentials;
        revoke: fn(&str, Timestamp) -> Option<CredentialRecord> = revoke;
        record: fn(&str) -> Option<CredentialRecord> = record;
        rotate: fn(&str, Timestamp, &NewCredential) -> Result<Option<CredentialRecord>, StorageError> = rotate;
        note: fn(&[CredentialUse]) -> Result<(), StorageError> = note;
    }
}

impl Broken {
    /// Lists and look-ups take one of so many permits, and give it back only if they are not dropped.
    pub(crate) fn permits(mut self, permits: usize) -> Self {
        self.permits = Some(AtomicUsize::new(permits));
        self
    }

    async fn with_a_permit(&self) -> Result<(), StorageError> {
        if let Some(permits) = &self.permits {
            let taken = permits.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |permits| permits.checked_sub(1));
            taken.map_err(|_| StorageError::new(StorageErrorKind::Unavailable, "no permit is left"))?;
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
        self.with_a_permit().await?;
        (self.list)(&self.memory, account, page, rows);
        Ok((self.brought)(&self.memory, Read::Page, (self.revision)(&self.memory, account)))
    }

    async fn find_course(
        &self,
        account: &AccountId,
        slug: &str,
    ) -> Result<AtRevision<Option<CourseDetail>>, StorageError> {
        let value = (self.find)(&self.memory, account, slug);
        let revision = (self.brought)(&self.memory, Read::Course, (self.revision)(&self.memory, account));
        Ok(AtRevision { value, revision })
    }

    async fn revision(&self, account: &AccountId) -> Result<Option<Revision>, StorageError> {
        Ok((self.revision)(&self.memory, account))
    }
}

#[async_trait]
impl CredentialStorage for Broken {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.with_a_permit().await?;
        Ok((self.credential)(&self.memory, digest))
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

    async fn create_credential(&self, credential: &NewCredential) -> Result<(), StorageError> {
        (self.create)(&self.memory, credential)
    }

    async fn list_credentials(&self, account: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        Ok((self.credentials)(&self.memory, account))
    }

    async fn visit_credentials(&self, visit: &mut Visitor<'_, CredentialRecord>) -> Result<(), StorageError> {
        let _ = (self.all_credentials)(&self.memory).into_iter().try_for_each(visit);
        Ok(())
    }

    async fn revoke_credential(&self, id: &str, at: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.revoke)(&self.memory, id, at))
    }
    async fn find_credential_record(&self, id: &str) -> Result<Option<CredentialRecord>, StorageError> {
        Ok((self.record)(&self.memory, id))
    }

    async fn rotate_credential(
        &self,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
    ) -> Result<Option<CredentialRecord>, StorageError> {
        (self.rotate)(&self.memory, id, ends_at, successor)
    }

    async fn note_uses(&self, uses: &[CredentialUse]) -> Result<(), StorageError> {
        (self.note)(&self.memory, uses)
    }
}
