//! [`HostStorage`]: a host application's storage, whose calls a test counts and fails.

use std::fmt;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, NewSession, NewSignIn, Session,
    SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use tokio::task::yield_now;

type Found = Result<Option<CredentialRecord>, StorageError>;

/// Calls that change nothing.
pub(crate) const READS: [&str; 5] = ["find_credential", "list_keys", "find_key", "list_events", "find_session"];

/// Message of all failures, which no response may contain.
pub(crate) const FAILURE: &str = "the disk at /var/secret is full";

/// What happens to a call.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    None,
    Fails(StorageErrorKind),
    /// The call takes effect, but its result is lost.
    LosesResult,
}

type FaultOfCall = Box<dyn FnMut(&str) -> Fault + Send>;

/// A memory storage behind a fault that tests set.
#[derive(Clone)]
pub(crate) struct HostStorage {
    pub(crate) memory: MemoryStorage,
    /// Whether the storage stores the times of revocations in whole minutes.
    pub(crate) has_minute_resolution: bool,
    fault: Arc<Mutex<FaultOfCall>>,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

impl HostStorage {
    /// Creates a storage with the accounts `anna` and `bert`.
    pub(crate) async fn new() -> Self {
        let memory = MemoryStorage::new();
        let mut import = memory.begin_import().await.unwrap();
        for id in ["anna", "bert"] {
            let account = Account { id: AccountId::new(id), name: format!("School of {id}"), email: String::new() };
            import.put_account(&account).await.unwrap();
        }
        import.commit().await.unwrap();
        let fault: FaultOfCall = Box::new(|_| Fault::None);
        Self { memory, has_minute_resolution: false, fault: Arc::new(Mutex::new(fault)), calls: Arc::default() }
    }

    /// Sets the fault of each further call, and forgets the calls so far.
    pub(crate) fn set_fault(&self, fault: impl FnMut(&str) -> Fault + Send + 'static) {
        *self.fault.lock().unwrap() = Box::new(fault);
        self.calls.lock().unwrap().clear();
    }

    /// Makes the further calls of `methods` fail.
    pub(crate) fn fail(&self, methods: &'static [&str], kind: StorageErrorKind) {
        self.set_fault(move |method| if methods.contains(&method) { Fault::Fails(kind) } else { Fault::None });
    }

    /// Makes all further calls fail that change something.
    pub(crate) fn fail_changes(&self, kind: StorageErrorKind) {
        self.set_fault(move |method| if READS.contains(&method) { Fault::None } else { Fault::Fails(kind) });
    }

    /// Returns the number of calls of `methods`.
    pub(crate) fn count(&self, methods: &[&str]) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| methods.contains(call)).count()
    }

    /// Returns the number of all calls.
    pub(crate) fn call_count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    async fn call<T>(
        &self,
        method: &'static str,
        work: impl Future<Output = Result<T, StorageError>>,
    ) -> Result<T, StorageError> {
        self.calls.lock().unwrap().push(method);
        let fault = (self.fault.lock().unwrap())(method);
        match fault {
            Fault::None => work.await,
            Fault::Fails(kind) => Err(StorageError::new(kind, FAILURE)),
            Fault::LosesResult => {
                work.await?;
                Err(StorageError::new(StorageErrorKind::OutcomeUnknown, FAILURE))
            }
        }
    }
}

impl fmt::Debug for HostStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialStorage for HostStorage {
    async fn find_credential(&self, digest: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        self.call("find_credential", self.memory.find_credential(digest)).await
    }
}

#[async_trait]
impl KeyStorage for HostStorage {
    async fn list_keys(
        &self,
        account: &AccountId,
        now: Timestamp,
        ended: usize,
    ) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        self.call("list_keys", self.memory.list_keys(account, now, ended)).await
    }

    async fn find_key(&self, account: &AccountId, id: &str) -> Found {
        self.call("find_key", self.memory.find_key(account, id)).await
    }

    /// Yields first: two concurrent creations have both read before either writes.
    async fn create_key(&self, key: &NewCredential, by: &Actor) -> Result<(), StorageError> {
        yield_now().await;
        self.call("create_key", self.memory.create_key(key, by)).await
    }

    async fn rename_key(&self, account: &AccountId, id: &str, name: &str, by: &Actor) -> Found {
        self.call("rename_key", self.memory.rename_key(account, id, name, by)).await
    }

    async fn rotate_key(
        &self,
        account: &AccountId,
        id: &str,
        ends_at: Timestamp,
        successor: &NewCredential,
        by: &Actor,
    ) -> Found {
        self.call("rotate_key", self.memory.rotate_key(account, id, ends_at, successor, by)).await
    }

    async fn revoke_key(&self, account: &AccountId, id: &str, at: Timestamp, by: &Actor) -> Found {
        let minute = Timestamp::from_microseconds(at.as_microseconds() / 60_000_000 * 60_000_000).unwrap();
        let at = if self.has_minute_resolution { minute } else { at };
        self.call("revoke_key", self.memory.revoke_key(account, id, at, by)).await
    }

    async fn list_events(&self, account: &AccountId, max: usize) -> Result<Vec<CredentialEvent>, StorageError> {
        self.call("list_events", self.memory.list_events(account, max)).await
    }
}

#[async_trait]
impl SignInStorage for HostStorage {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.call("create_link", self.memory.create_link(link, by)).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        self.call("exchange_link", self.memory.exchange_link(link, now, session)).await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.call("find_session", self.memory.find_session(digest)).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.call("end_session", self.memory.end_session(digest)).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        self.call("end_sign_ins", self.memory.end_sign_ins(account, by)).await
    }
}
