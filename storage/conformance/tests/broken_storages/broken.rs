//! A memory storage of which single calls can be replaced by flawed ones.

use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use catalogue_core::admin::{
    AccountSummary, Accounts, AdminStorage, CredentialRecord, CredentialUse, Import, NewCredential, Record,
    RemovedAccount, Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    AtRevision, CourseRows, CourseStorage, CredentialStorage, MemoryStorage, PageRequest, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp, async_trait};

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

/// The result of a future that never waits, as those of the memory storage.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the memory storage never waits"),
    }
}

pub(crate) fn list(memory: &MemoryStorage, account: &AccountId, page: &PageRequest, rows: &mut CourseRows<'_>) {
    now(memory.list_courses(account, page, rows)).unwrap();
}

pub(crate) fn find(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Option<CourseDetail> {
    now(memory.find_course(account, slug)).unwrap().value
}

pub(crate) fn credential(memory: &MemoryStorage, digest: &TokenDigest) -> Option<Credential> {
    now(memory.find_credential(digest)).unwrap()
}

/// All that a call shows.
fn collected<T: Send>(call: impl FnOnce(&mut Visitor<'_, T>) -> Result<(), StorageError>) -> Vec<T> {
    let mut all = Vec::new();
    let mut visit = |one| {
        all.push(one);
        ControlFlow::Continue(())
    };
    call(&mut visit).unwrap();
    all
}

pub(crate) fn summaries(memory: &MemoryStorage, accounts: Accounts<'_>, at: Timestamp) -> Vec<AccountSummary> {
    collected(|visit| now(memory.list_accounts(accounts, at, visit)))
}

pub(crate) fn remove_account(memory: &MemoryStorage, account: &AccountId) -> Option<RemovedAccount> {
    now(memory.remove_account(account)).unwrap()
}

pub(crate) fn all_credentials(memory: &MemoryStorage) -> Vec<CredentialRecord> {
    collected(|visit| now(memory.visit_credentials(visit)))
}

pub(crate) fn credentials(memory: &MemoryStorage, account: &AccountId) -> Option<Vec<CredentialRecord>> {
    now(memory.list_credentials(account)).unwrap()
}

pub(crate) fn revoke(memory: &MemoryStorage, id: &str, at: Timestamp) -> Option<CredentialRecord> {
    now(memory.revoke_credential(id, at)).unwrap()
}

pub(crate) fn record(memory: &MemoryStorage, id: &str) -> Option<CredentialRecord> {
    now(memory.find_credential_record(id)).unwrap()
}

pub(crate) fn rotate(
    memory: &MemoryStorage,
    id: &str,
    ends_at: Timestamp,
    successor: &NewCredential,
) -> Result<Option<CredentialRecord>, StorageError> {
    now(memory.rotate_credential(id, ends_at, successor))
}

pub(crate) fn note(memory: &MemoryStorage, uses: &[CredentialUse]) -> Result<(), StorageError> {
    now(memory.note_uses(uses))
}

pub(crate) fn create(memory: &MemoryStorage, credential: &NewCredential) -> Result<(), StorageError> {
    now(memory.create_credential(credential))
}

pub(crate) fn begin(memory: &MemoryStorage) -> Result<Box<dyn Import>, StorageError> {
    now(memory.begin_import())
}

pub(crate) fn remove(memory: &MemoryStorage, account: &AccountId, slug: &str) -> Result<bool, StorageError> {
    now(memory.remove_course(account, slug))
}

/// All that an export shows.
pub(crate) fn records(memory: &MemoryStorage) -> Vec<Record> {
    collected(|visit| now(memory.export(Accounts::All, visit)))
}

/// The courses of every account.
pub(crate) fn courses(memory: &MemoryStorage) -> Vec<Course> {
    let course = |record| match record {
        Record::Course(course) => Some(course),
        Record::Account(_) => None,
    };
    records(memory).into_iter().filter_map(course).collect()
}

/// The ids of all accounts.
pub(crate) fn accounts(memory: &MemoryStorage) -> Vec<AccountId> {
    let id = |record| match record {
        Record::Account(account) => Some(account.id),
        Record::Course(_) => None,
    };
    records(memory).into_iter().filter_map(id).collect()
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
