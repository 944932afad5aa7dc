//! A memory storage whose calls can be replaced by flawed ones.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use catalogue_core::admin::{
    Account, AccountSummary, Accounts, AdminStorage, Change, CredentialRecord, CredentialUse, Import, NewCredential,
    Record, RemovedAccount, Visitor,
};
use catalogue_core::auth::{Credential, TokenDigest};
use catalogue_core::storage::{
    Actor, AtRevision, CourseRows, CourseStorage, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage,
    NewSession, NewSignIn, PageRequest, Revision, Session, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp, async_trait};

/// Defines a storage with a field for each call, a method that replaces the call, and one that alters its result.
/// Calls after `=>` pass values to a visitor; their replacements return the values.
macro_rules! broken {
    ($(
        $trait:ident {
            $($call:ident / $alter:ident($($argument:ident: $type:ty),*) -> $result:ty;)*
        } $(=> { $($visit:ident / $alter_all:ident($($with:ident: $with_type:ty),*) -> $item:ty;)* })*
    )*) => {
        pub(crate) struct Broken {
            memory: MemoryStorage,
            permits: Option<AtomicUsize>,
            visits_after_break: bool,
            $(
                $($call: Box<dyn Fn(&MemoryStorage, $($type),*) -> Result<$result, StorageError> + Send + Sync>,)*
                $($($visit: Box<dyn Fn(&MemoryStorage, $($with_type),*) -> Vec<$item> + Send + Sync>,)*)*
            )*
        }

        #[allow(dead_code, reason = "some calls have no flaw of a kind")]
        impl Broken {
            pub(crate) fn new() -> Self {
                Self {
                    memory: MemoryStorage::new(),
                    permits: None,
                    visits_after_break: false,
                    $(
                        $($call: Box::new(|memory, $($argument),*| run($trait::$call(memory, $($argument),*))),)*
                        $($($visit: Box::new(|memory, $($with),*| {
                            visited(|visit| run($trait::$visit(memory, $($with,)* visit)))
                        }),)*)*
                    )*
                }
            }

            $(
                $(
                    pub(crate) fn $call(
                        mut self,
                        call: impl Fn(&MemoryStorage, $($type),*) -> Result<$result, StorageError>
                            + Send + Sync + 'static,
                    ) -> Self {
                        self.$call = Box::new(call);
                        self
                    }

                    pub(crate) fn $alter(self, alter: impl Fn(&mut $result) + Send + Sync + 'static) -> Self {
                        self.$call(move |memory, $($argument),*| {
                            let mut result = run($trait::$call(memory, $($argument),*))?;
                            alter(&mut result);
                            Ok(result)
                        })
                    }
                )*
                $($(
                    pub(crate) fn $visit(
                        mut self,
                        visit: impl Fn(&MemoryStorage, $($with_type),*) -> Vec<$item> + Send + Sync + 'static,
                    ) -> Self {
                        self.$visit = Box::new(visit);
                        self
                    }

                    pub(crate) fn $alter_all(self, alter: impl Fn(&mut Vec<$item>) + Send + Sync + 'static) -> Self {
                        self.$visit(move |memory, $($with),*| {
                            let mut all = visited(|visit| run($trait::$visit(memory, $($with,)* visit)));
                            alter(&mut all);
                            all
                        })
                    }
                )*)*
            )*
        }

        $(
            #[async_trait]
            impl $trait for Broken {
                $(
                    async fn $call(&self, $($argument: $type),*) -> Result<$result, StorageError> {
                        self.with_permit().await?;
                        (self.$call)(&self.memory, $($argument),*)
                    }
                )*
                $($(
                    async fn $visit(
                        &self,
                        $($with: $with_type,)*
                        visit: &mut Visitor<'_, $item>,
                    ) -> Result<(), StorageError> {
                        for item in (self.$visit)(&self.memory, $($with),*) {
                            if visit(item).is_break() && !self.visits_after_break {
                                break;
                            }
                        }
                        Ok(())
                    }
                )*)*
            }
        )*
    };
}

broken! {
    CourseStorage {
        list_courses / page_revision(account: &AccountId, page: &PageRequest, rows: &mut CourseRows<'_>)
            -> Option<Revision>;
        find_course / course(account: &AccountId, slug: &str) -> AtRevision<Option<CourseDetail>>;
        revision / current_revision(account: &AccountId) -> Option<Revision>;
    }
    CredentialStorage {
        find_credential / credential(digest: &TokenDigest) -> Option<Credential>;
        is_revoked / revoked(digest: &TokenDigest) -> Option<bool>;
    }
    KeyStorage {
        list_keys / keys(account: &AccountId, now: Timestamp, ended: usize) -> Option<Vec<CredentialRecord>>;
        find_key / key(account: &AccountId, id: &str) -> Option<CredentialRecord>;
        create_key / created_key(key: &NewCredential, by: &Actor) -> ();
        rename_key / renamed_key(account: &AccountId, id: &str, name: &str, by: &Actor) -> Option<CredentialRecord>;
        rotate_key / rotated_key(account: &AccountId, id: &str, ends_at: Timestamp, successor: &NewCredential, by: &Actor)
            -> Option<CredentialRecord>;
        revoke_key / revoked_key(account: &AccountId, id: &str, at: Timestamp, by: &Actor) -> Option<CredentialRecord>;
        list_events / events(account: &AccountId, limit: usize) -> Vec<CredentialEvent>;
    }
    SignInStorage {
        create_link / created_link(link: &NewSignIn, by: &Actor) -> ();
        exchange_link / exchanged_link(link: &TokenDigest, now: Timestamp, session: &NewSession) -> Option<Account>;
        find_session / session(digest: &TokenDigest) -> Option<Session>;
        end_session / ended_session(digest: &TokenDigest) -> ();
        end_sign_ins / ended_sign_ins(account: &AccountId, by: &Actor) -> u64;
    }
    AdminStorage {
        begin_import / begun_import() -> Box<dyn Import>;
        remove_account / removed_account(account: &AccountId) -> Option<RemovedAccount>;
        remove_course / removed_course(account: &AccountId, slug: &str) -> bool;
        find_credential_record / record(id: &str) -> Option<CredentialRecord>;
        record_uses / recorded_uses(uses: &[CredentialUse]) -> ();
        revoke_tokens / revoked_tokens(digests: &[TokenDigest], expires_at: Timestamp, at: Timestamp) -> ();
    } => {
        list_accounts / summaries(accounts: Accounts<'_>, now: Timestamp) -> AccountSummary;
        export / exported(accounts: Accounts<'_>) -> Record;
        visit_credentials / credentials(accounts: Accounts<'_>) -> CredentialRecord;
    }
}

impl Broken {
    /// Makes each call take one of `permits` permits. Dropped calls do not return theirs.
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

    /// Makes visiting calls ignore that their visitor breaks.
    pub(crate) fn visits_after_break(mut self) -> Self {
        self.visits_after_break = true;
        self
    }

    /// Replaces calls of imports.
    pub(crate) fn import(self, alter: impl Fn(&mut BrokenImport, &MemoryStorage) + Send + Sync + 'static) -> Self {
        self.begin_import(move |memory| {
            let mut import = BrokenImport::of(memory)?;
            alter(&mut import, memory);
            Ok(Box::new(import))
        })
    }

    /// Replaces the call of an import that puts a course.
    pub(crate) fn put_course(
        self,
        put: impl Fn(&mut dyn Import, &Course) -> Result<Change, StorageError> + Clone + Send + Sync + 'static,
    ) -> Self {
        self.import(move |import, _| import.put_course = Box::new(put.clone()))
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Broken(..)")
    }
}

type PutCall<T> = Box<dyn FnMut(&mut dyn Import, &T) -> Result<Change, StorageError> + Send>;
type Pruned = Vec<(AccountId, String)>;

/// An import whose calls can be replaced.
pub(crate) struct BrokenImport {
    inner: Box<dyn Import>,
    pub(crate) put_account: PutCall<Account>,
    pub(crate) put_course: PutCall<Course>,
    pub(crate) prune: Box<dyn FnMut(&mut dyn Import) -> Pruned + Send>,
    pub(crate) commit: Box<dyn FnOnce(Box<dyn Import>) -> Result<(), StorageError> + Send>,
}

impl BrokenImport {
    fn of(memory: &MemoryStorage) -> Result<Self, StorageError> {
        Ok(Self {
            inner: run(memory.begin_import())?,
            put_account: Box::new(|inner, account| run(inner.put_account(account))),
            put_course: Box::new(|inner, course| run(inner.put_course(course))),
            prune: Box::new(|inner| run(inner.prune()).unwrap()),
            commit: Box::new(|inner| run(inner.commit())),
        })
    }
}

#[async_trait]
impl Import for BrokenImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        (self.put_account)(&mut *self.inner, account)
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        self.inner.creation_time(account, slug).await
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        (self.put_course)(&mut *self.inner, course)
    }

    async fn prune(&mut self) -> Result<Pruned, StorageError> {
        Ok((self.prune)(&mut *self.inner))
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        (self.commit)(self.inner)
    }
}

/// Runs a future that never waits, like those of the memory storage, and returns its result.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("the memory storage never waits"),
    }
}

/// Returns all values that a call visits.
pub(crate) fn visited<T: Send>(call: impl FnOnce(&mut Visitor<'_, T>) -> Result<(), StorageError>) -> Vec<T> {
    let mut all = Vec::new();
    let mut visit = |value| {
        all.push(value);
        ControlFlow::Continue(())
    };
    call(&mut visit).unwrap();
    all
}

/// Returns the courses of all accounts.
pub(crate) fn courses(memory: &MemoryStorage) -> Vec<Course> {
    let course = |record| match record {
        Record::Course(course) => Some(course),
        Record::Account(_) => None,
    };
    visited(|visit| run(memory.export(Accounts::All, visit))).into_iter().filter_map(course).collect()
}

/// Returns all accounts.
pub(crate) fn accounts(memory: &MemoryStorage) -> Vec<Account> {
    let account = |record| match record {
        Record::Account(account) => Some(account),
        Record::Course(_) => None,
    };
    visited(|visit| run(memory.export(Accounts::All, visit))).into_iter().filter_map(account).collect()
}

/// Puts an account or courses in a separate import.
pub(crate) fn put(memory: &MemoryStorage, account: Option<&Account>, courses: &[Course]) -> Result<(), StorageError> {
    let mut import = run(memory.begin_import())?;
    account.map_or(Ok(Change::Unchanged), |account| run(import.put_account(account)))?;
    courses.iter().try_for_each(|course| run(import.put_course(course)).map(drop))?;
    run(import.commit())
}

/// Returns an account without name and email.
pub(crate) fn account(id: &AccountId) -> Account {
    Account { id: id.clone(), name: String::new(), email: String::new() }
}

pub(crate) fn record(memory: &MemoryStorage, id: &str) -> Option<CredentialRecord> {
    run(memory.find_credential_record(id)).unwrap()
}

/// Truncates a time to milliseconds.
pub(crate) fn to_milliseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_microseconds(time.as_microseconds().div_euclid(1_000) * 1_000).unwrap()
}

/// Values by key, retained forever.
pub(crate) struct Cache<K, V>(Mutex<HashMap<K, V>>);

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    /// Returns the first value that was read for the key.
    pub(crate) fn first(&self, key: K, read: impl FnOnce() -> V) -> V {
        self.0.lock().unwrap().entry(key).or_insert_with(read).clone()
    }

    /// Returns the last value that was found for the key.
    pub(crate) fn last(&self, key: K, found: Option<V>) -> Option<V> {
        let mut values = self.0.lock().unwrap();
        values.extend(found.map(|found| (key.clone(), found)));
        values.get(&key).cloned()
    }
}

/// Returns a function that replaces each value by the one of three calls before, or the first one.
pub(crate) fn lagging<T: Clone + Send + 'static>() -> impl Fn(&mut T) + Send + Sync + 'static {
    let values = Mutex::new(VecDeque::new());
    move |value| {
        let mut values = values.lock().unwrap();
        values.push_back(value.clone());
        value.clone_from(&values[0]);
        if values.len() > 3 {
            values.pop_front();
        }
    }
}
