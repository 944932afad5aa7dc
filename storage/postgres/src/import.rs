//! [`PostgresImport`]: an import in one transaction.

use std::collections::{HashMap, HashSet};

use catalogue_core::admin::{Account, Change, Import};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp, async_trait, is_slug};
use tokio_postgres::types::Type;

use crate::accounts::unknown_account;
use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::rows::{get, time};
use crate::text::{can_be_stored, check_storable, stored};
use crate::transaction::{LOCK_TIMEOUT, begin, commit};
use crate::whole_course::find_whole_course;
use crate::writes::{LOCK_ACCOUNT, insert_course, lock_account, remove_courses, replace_revision};

const INSERT_ACCOUNT: Sql = Sql {
    text: "INSERT INTO accounts (id, name, email) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT],
};

const UPDATE_ACCOUNT: Sql = Sql {
    text: "UPDATE accounts SET name = $2, email = $3 WHERE id = $1",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT],
};

const CREATION_TIME: Sql = Sql {
    text: "SELECT created_at FROM courses WHERE account_id = $1 AND slug = $2",
    types: &[Type::TEXT, Type::TEXT],
};

const SLUGS: Sql = Sql { text: "SELECT slug FROM courses WHERE account_id = $1", types: &[Type::TEXT] };

/// The transaction ends with [`commit`](Import::commit); closing the connection undoes it.
///
/// What it has put is kept in memory, some 60 bytes a course: not every engine has temporary tables.
pub(crate) struct PostgresImport {
    connection: Connection,
    put_accounts: HashSet<AccountId>,
    put_courses: HashMap<AccountId, HashSet<Box<str>>>,
    /// Accounts whose courses were changed, to have their revision replaced.
    changed: HashSet<AccountId>,
    /// The account of the course before, which most often is that of the next: known to exist, and locked.
    known_account: Option<AccountId>,
    /// A statement failed. The database then undoes the transaction, and would not complain of a commit.
    failed: bool,
}

impl PostgresImport {
    pub(crate) async fn begin(connection: Connection) -> Result<Self, StorageError> {
        begin(&connection, LOCK_TIMEOUT).await?;
        Ok(Self {
            connection,
            put_accounts: HashSet::new(),
            put_courses: HashMap::new(),
            changed: HashSet::new(),
            known_account: None,
            failed: false,
        })
    }

    async fn is_known(&mut self, account: &AccountId) -> Result<bool, StorageError> {
        if self.known_account.as_ref() != Some(account) {
            let known = lock_account(&self.connection, account).await.map_err(storage_error)?;
            self.known_account = known.then(|| account.clone());
        }
        Ok(self.known_account.is_some())
    }

    async fn write_account(&self, account: &Account) -> Result<Change, StorageError> {
        let Account { id, name, email } = account;
        let id = id.as_str();
        let (stored_name, stored_email) = (stored(name), stored(email));
        let values: Values<'_> = &[&id, &stored_name, &stored_email];
        if self.connection.execute(&INSERT_ACCOUNT, values).await.map_err(storage_error)? > 0 {
            return Ok(Change::Added);
        }
        let rows = self.connection.query(&LOCK_ACCOUNT, &[&id]).await.map_err(storage_error)?;
        let known: Option<(&str, &str)> = rows.first().map(|row| Ok((get(row, 0)?, get(row, 1)?))).transpose()?;
        if known == Some((&stored_name, &stored_email)) {
            return Ok(Change::Unchanged);
        }
        self.connection.execute(&UPDATE_ACCOUNT, values).await.map_err(storage_error)?;
        Ok(Change::Changed)
    }

    async fn write_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        let change = match find_whole_course(&self.connection, course.account.as_str(), &course.slug).await? {
            None => Change::Added,
            Some(known) if known == *course => return Ok(Change::Unchanged),
            Some(_) => Change::Changed,
        };
        // Also where it is added: what a host may have left of its modules goes.
        remove_courses(&self.connection, &course.account, &[&course.slug]).await.map_err(storage_error)?;
        insert_course(&self.connection, course).await.map_err(storage_error)?;
        self.changed.insert(course.account.clone());
        Ok(change)
    }

    async fn prune_account(&mut self, account: &AccountId) -> Result<Vec<(AccountId, String)>, StorageError> {
        if !self.is_known(account).await? {
            return Ok(Vec::new());
        }
        let rows = self.connection.query(&SLUGS, &[&account.as_str()]).await.map_err(storage_error)?;
        let there: Vec<&str> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
        let put = self.put_courses.get(account);
        let unwanted: Vec<&str> =
            there.into_iter().filter(|slug| !put.is_some_and(|put| put.contains(*slug))).collect();
        if unwanted.is_empty() {
            return Ok(Vec::new());
        }
        remove_courses(&self.connection, account, &unwanted).await.map_err(storage_error)?;
        self.changed.insert(account.clone());
        Ok(unwanted.into_iter().map(|slug| (account.clone(), slug.to_owned())).collect())
    }

    /// Notes whether what was tried has failed.
    fn noted<T>(&mut self, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
        self.failed |= outcome.is_err();
        outcome
    }
}

#[async_trait]
impl Import for PostgresImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        check_storable([account.id.as_str()])?;
        if !self.put_accounts.insert(account.id.clone()) {
            return Ok(Change::Repeated);
        }
        let outcome = self.write_account(account).await;
        self.noted(outcome)
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        if !can_be_stored(account.as_str()) || !can_be_stored(slug) {
            return Ok(None);
        }
        let rows = self.connection.query(&CREATION_TIME, &[&account.as_str(), &slug]).await.map_err(storage_error);
        let rows = self.noted(rows)?;
        rows.first().map(|row| time(row, 0)).transpose()
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        let known = self.is_known(&course.account).await;
        if !self.noted(known)? {
            return Err(unknown_account(&course.account));
        }
        if !is_slug(&course.slug) {
            return Err(StorageError::new(StorageErrorKind::InvalidValue, format!("{:?} is not a slug", course.slug)));
        }
        if !self.put_courses.entry(course.account.clone()).or_default().insert(course.slug.as_str().into()) {
            return Ok(Change::Repeated);
        }
        let outcome = self.write_course(course).await;
        self.noted(outcome)
    }

    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError> {
        let accounts: Vec<_> = self.put_accounts.iter().cloned().collect();
        let mut removed = Vec::new();
        for account in accounts {
            let outcome = self.prune_account(&account).await;
            removed.extend(self.noted(outcome)?);
        }
        Ok(removed)
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        if self.failed {
            return Err(StorageError::new(StorageErrorKind::Other, "the import failed before, and is undone"));
        }
        for account in &self.changed {
            replace_revision(&self.connection, account).await.map_err(storage_error)?;
        }
        commit(&self.connection).await
    }
}
