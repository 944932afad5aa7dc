//! [`HostStorage`]: a host application's storage, whose calls a test counts and fails.

use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, AdminStorage};
use catalogue_core::storage::{MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use catalogue_storage_tests::intercept::{Intercept, Point};
use tokio::task::yield_now;

/// Calls that change nothing.
pub(crate) const READS: [&str; 5] = ["find_credential", "list_keys", "find_key", "list_events", "find_session"];

/// Message of all failures, which no response may contain.
pub(crate) const FAILURE: &str = "the disk at /var/secret is full";

type Fault = Box<dyn FnMut(&str, Point) -> Option<StorageErrorKind> + Send>;

/// A memory storage behind a fault that tests set.
#[derive(Clone)]
pub(crate) struct HostStorage {
    pub(crate) memory: MemoryStorage,
    pub(crate) calls: Arc<Intercept<MemoryStorage>>,
    fault: Arc<Mutex<Fault>>,
}

impl HostStorage {
    /// Creates a storage with the accounts `anna` and `bert`.
    pub(crate) async fn new() -> Self {
        Self::with_revocation_time(|time| time).await
    }

    /// Like [`new`](Self::new), but the storage stores the times of revocations in whole minutes.
    pub(crate) async fn with_minute_resolution() -> Self {
        Self::with_revocation_time(|at| {
            Timestamp::from_microseconds(at.as_microseconds() / 60_000_000 * 60_000_000).unwrap()
        })
        .await
    }

    async fn with_revocation_time(change: fn(Timestamp) -> Timestamp) -> Self {
        let memory = MemoryStorage::new();
        let mut import = memory.begin_import().await.unwrap();
        for id in ["anna", "bert"] {
            let account = Account { id: AccountId::new(id), name: format!("School of {id}"), email: String::new() };
            import.put_account(&account).await.unwrap();
        }
        import.commit().await.unwrap();
        let no_fault: Fault = Box::new(|_, _| None);
        let fault = Arc::new(Mutex::new(no_fault));
        let of_calls = fault.clone();
        let calls = Intercept::new(memory.clone()).revocation_time(change).on_call(move |call, point| {
            let fault = of_calls.clone();
            async move {
                // Two concurrent creations have both read before either writes.
                if (call, point) == ("create_key", Point::Begun) {
                    yield_now().await;
                }
                let kind = (fault.lock().unwrap())(call, point);
                kind.map_or(Ok(()), |kind| Err(StorageError::new(kind, FAILURE)))
            }
        });
        Self { memory, calls: Arc::new(calls), fault }
    }

    /// Sets the error of each further call, if any. An error at [`Point::Done`] only loses the call's result.
    pub(crate) fn set_fault(&self, fault: impl FnMut(&str, Point) -> Option<StorageErrorKind> + Send + 'static) {
        *self.fault.lock().unwrap() = Box::new(fault);
    }

    /// Makes the further calls of `methods` fail.
    pub(crate) fn fail(&self, methods: &'static [&str], kind: StorageErrorKind) {
        self.set_fault(move |method, _| methods.contains(&method).then_some(kind));
    }

    /// Makes all further calls fail that change something.
    pub(crate) fn fail_changes(&self, kind: StorageErrorKind) {
        self.set_fault(move |method, _| (!READS.contains(&method)).then_some(kind));
    }
}
