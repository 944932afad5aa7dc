//! Imports whose calls can be replaced by flawed ones, and imports that are flawed as a whole.

use std::collections::BTreeSet;

use catalogue_core::admin::{Account, Change, Import, Record};
use catalogue_core::storage::{MemoryStorage, StorageError};
use catalogue_core::{AccountId, Course, Timestamp, async_trait};

use crate::broken::{begin, courses, records, remove, run};

/// Call of an import that puts an account or a course.
type PutFn<T> = Box<dyn FnMut(&mut dyn Import, &T) -> Result<Change, StorageError> + Send>;
type CreationTimeFn = Box<dyn FnMut(&mut dyn Import, &AccountId, &str) -> Option<Timestamp> + Send>;
/// Accounts and slugs of the removed courses.
pub(crate) type Pruned = Vec<(AccountId, String)>;
type PruneFn = Box<dyn FnMut(&mut dyn Import) -> Pruned + Send>;

/// Wrapper of an import; calls that are not replaced are forwarded to it.
pub(crate) struct BrokenImport {
    inner: Box<dyn Import>,
    put_account: PutFn<Account>,
    put_course: PutFn<Course>,
    creation_time: CreationTimeFn,
    prune: PruneFn,
    /// Whether a batch puts its accounts first.
    accounts_first: bool,
}

impl BrokenImport {
    pub(crate) fn over(memory: &MemoryStorage) -> Result<Self, StorageError> {
        Ok(Self::around(begin(memory)?))
    }

    pub(crate) fn around(inner: Box<dyn Import>) -> Self {
        Self {
            inner,
            put_account: Box::new(|inner, account| run(inner.put_account(account))),
            put_course: Box::new(|inner, course| run(inner.put_course(course))),
            creation_time: Box::new(|inner, account, slug| run(inner.creation_time(account, slug)).unwrap()),
            prune: Box::new(|inner| run(inner.prune()).unwrap()),
            accounts_first: false,
        }
    }

    pub(crate) fn accounts_first(self) -> Self {
        Self { accounts_first: true, ..self }
    }

    pub(crate) fn put_account(
        mut self,
        call: impl FnMut(&mut dyn Import, &Account) -> Result<Change, StorageError> + Send + 'static,
    ) -> Self {
        self.put_account = Box::new(call);
        self
    }

    pub(crate) fn put_course(
        mut self,
        call: impl FnMut(&mut dyn Import, &Course) -> Result<Change, StorageError> + Send + 'static,
    ) -> Self {
        self.put_course = Box::new(call);
        self
    }

    pub(crate) fn creation_time(
        mut self,
        call: impl FnMut(&mut dyn Import, &AccountId, &str) -> Option<Timestamp> + Send + 'static,
    ) -> Self {
        self.creation_time = Box::new(call);
        self
    }

    pub(crate) fn prune(mut self, call: impl FnMut(&mut dyn Import) -> Pruned + Send + 'static) -> Self {
        self.prune = Box::new(call);
        self
    }

    pub(crate) fn boxed(self) -> Box<dyn Import> {
        Box::new(self)
    }
}

#[async_trait]
impl Import for BrokenImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        (self.put_account)(&mut *self.inner, account)
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        Ok((self.creation_time)(&mut *self.inner, account, slug))
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        (self.put_course)(&mut *self.inner, course)
    }

    async fn put_all(&mut self, records: &[Record]) -> Result<Vec<Result<Change, StorageError>>, StorageError> {
        let mut order: Vec<usize> = (0..records.len()).collect();
        if self.accounts_first {
            order.sort_by_key(|index| matches!(records[*index], Record::Course(_)));
        }
        let mut outcomes: Vec<_> = records.iter().map(|_| Ok(Change::Repeated)).collect();
        for index in order {
            outcomes[index] = match &records[index] {
                Record::Account(account) => self.put_account(account).await,
                Record::Course(course) => self.put_course(course).await,
            };
        }
        Ok(outcomes)
    }

    async fn prune(&mut self) -> Result<Pruned, StorageError> {
        Ok((self.prune)(&mut *self.inner))
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        self.inner.commit().await
    }
}

/// An import that commits every step immediately, as if it forgot to begin a transaction.
pub(crate) struct WithoutTransaction {
    pub(crate) memory: MemoryStorage,
    accounts: BTreeSet<AccountId>,
    put: BTreeSet<(AccountId, String)>,
}

impl WithoutTransaction {
    pub(crate) fn over(memory: &MemoryStorage) -> Box<dyn Import> {
        Box::new(Self { memory: memory.clone(), accounts: BTreeSet::new(), put: BTreeSet::new() })
    }
}

#[async_trait]
impl Import for WithoutTransaction {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        self.accounts.insert(account.id.clone());
        let mut import = begin(&self.memory)?;
        let change = import.put_account(account).await?;
        import.commit().await?;
        Ok(change)
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        begin(&self.memory)?.creation_time(account, slug).await
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        self.put.insert((course.account.clone(), course.slug.clone()));
        let mut import = begin(&self.memory)?;
        let change = import.put_course(course).await?;
        import.commit().await?;
        Ok(change)
    }

    async fn prune(&mut self) -> Result<Pruned, StorageError> {
        let mut pruned = Vec::new();
        for course in courses(&self.memory) {
            let name = (course.account.clone(), course.slug.clone());
            if self.accounts.contains(&course.account) && !self.put.contains(&name) {
                remove(&self.memory, &course.account, &course.slug)?;
                pruned.push(name);
            }
        }
        Ok(pruned)
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        Ok(())
    }
}

/// An import that on commit writes all records that existed when it began, in addition to its changes.
pub(crate) struct WritesBackAll {
    memory: MemoryStorage,
    records: Vec<Record>,
}

impl WritesBackAll {
    pub(crate) fn over(memory: &MemoryStorage) -> Box<dyn Import> {
        Box::new(Self { memory: memory.clone(), records: records(memory) })
    }
}

#[async_trait]
impl Import for WritesBackAll {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        self.records.push(Record::Account(account.clone()));
        Ok(Change::Added)
    }

    async fn creation_time(&mut self, _: &AccountId, _: &str) -> Result<Option<Timestamp>, StorageError> {
        Ok(None)
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        self.records.push(Record::Course(course.clone()));
        Ok(Change::Added)
    }

    async fn prune(&mut self) -> Result<Pruned, StorageError> {
        Ok(Vec::new())
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        let mut import = begin(&self.memory)?;
        for record in &self.records {
            match record {
                Record::Account(account) => import.put_account(account).await?,
                Record::Course(course) => import.put_course(course).await?,
            };
        }
        import.prune().await?;
        import.commit().await
    }
}
