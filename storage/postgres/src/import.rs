//! [`PostgresImport`]: an import in one transaction.

use std::collections::{HashMap, HashSet};

use catalogue_core::admin::{Account, Change, Import, Record};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp, async_trait, is_slug};
use futures_util::future::try_join_all;
use tokio_postgres::types::Type;

use crate::accounts::unknown_account;
use crate::connection::{Connection, Sql, Values};
use crate::rows::{column, get, time};
use crate::text::{check_storable, storable, stored};
use crate::transaction::{LOCK_TIMEOUT, begin, commit};
use crate::whole_course::{FIND_COURSE, FIND_MODULES, find_whole_course};
use crate::writes::{LOCK_ACCOUNT, REMOVE_COURSE, insert_courses, lock_account, remove_course, replace_revision};

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

/// Statements that find stored courses and remove changed ones, before new and changed courses are copied.
const BEFORE_COURSES: [&Sql<'_>; 5] =
    [&FIND_COURSE, &FIND_MODULES, &REMOVE_COURSE[0], &REMOVE_COURSE[1], &REMOVE_COURSE[2]];

/// Maximum number of removals sent before waiting for responses.
const MAX_PIPELINED_REMOVALS: usize = 256;

/// Import in one transaction, which [`commit`](Import::commit) ends; closing the connection rolls it back.
///
/// Imported account ids and slugs are tracked in memory, about 60 bytes per course. Temporary tables are not used: some
/// engines have none, and some roles may not create them.
pub(crate) struct PostgresImport {
    connection: Connection,
    imported_accounts: HashSet<AccountId>,
    /// Slugs by account, for accounts that exist and are locked.
    imported_courses: HashMap<AccountId, HashSet<Box<str>>>,
    /// Accounts whose courses were changed, to have their revision replaced.
    changed: HashSet<AccountId>,
    /// Whether a statement failed. The database then rolls back, and `COMMIT` reports no error.
    failed: bool,
}

impl PostgresImport {
    pub(crate) async fn begin(connection: Connection) -> Result<Self, StorageError> {
        begin(&connection, LOCK_TIMEOUT).await?;
        // A plan made while a table is empty scans the whole table, and is reused however many rows the import adds.
        connection.run("SET LOCAL enable_seqscan = off").await?;
        Ok(Self {
            connection,
            imported_accounts: HashSet::new(),
            imported_courses: HashMap::new(),
            changed: HashSet::new(),
            failed: false,
        })
    }

    /// Writes `records` with pipelined statements, so each group of statements costs one round trip.
    async fn write_all(&mut self, records: &[Record]) -> Result<Vec<Result<Change, StorageError>>, StorageError> {
        self.lock_accounts(records).await?;
        let (mut accounts, mut courses) = (Vec::new(), Vec::new());
        let mut outcomes: Vec<_> = (0..)
            .zip(records)
            .map(|(index, record)| match record {
                Record::Account(account) => {
                    let is_new = self.record_account(account)?;
                    accounts.extend(is_new.then_some((index, account)));
                    Ok(Change::Repeated)
                }
                Record::Course(course) => {
                    let is_new = self.record_course(course)?;
                    courses.extend(is_new.then_some((index, course)));
                    Ok(Change::Repeated)
                }
            })
            .collect();
        prepare(&self.connection, &[&INSERT_ACCOUNT, &LOCK_ACCOUNT]).await?;
        let written = try_join_all(accounts.iter().map(|(_, account)| self.write_account(account))).await?;
        for ((index, _), change) in accounts.into_iter().zip(written) {
            outcomes[index] = Ok(change);
        }
        prepare(&self.connection, &BEFORE_COURSES).await?;
        let cleared = try_join_all(courses.iter().map(|(_, course)| self.remove_outdated(course))).await?;
        let mut unwritten = Vec::new();
        for ((index, course), change) in courses.into_iter().zip(cleared) {
            outcomes[index] = Ok(change);
            if change != Change::Unchanged {
                self.changed.insert(course.account.clone());
                unwritten.push(course);
            }
        }
        if !unwritten.is_empty() {
            insert_courses(&self.connection, &unwritten).await?;
        }
        Ok(outcomes)
    }

    /// Locks the accounts of the courses, except accounts that are locked already or precede their courses in `records`.
    async fn lock_accounts(&mut self, records: &[Record]) -> Result<(), StorageError> {
        let (mut written, mut named) = (HashSet::new(), HashSet::new());
        for record in records {
            match record {
                Record::Account(account) => written.insert(&account.id),
                Record::Course(Course { account, .. }) => {
                    !written.contains(account) && !self.imported_courses.contains_key(account) && named.insert(account)
                }
            };
        }
        let connection = &self.connection;
        prepare(connection, &[&LOCK_ACCOUNT]).await?;
        let lock = async |account| Ok((account, lock_account(connection, account).await?));
        for (account, exists) in try_join_all(named.into_iter().map(lock)).await? {
            if exists {
                self.imported_courses.insert(account.clone(), HashSet::new());
            }
        }
        Ok(())
    }

    /// Records an account. Returns `true` if it is new in this import.
    fn record_account(&mut self, account: &Account) -> Result<bool, StorageError> {
        check_storable([account.id.as_str()])?;
        self.imported_courses.entry(account.id.clone()).or_default();
        Ok(self.imported_accounts.insert(account.id.clone()))
    }

    /// Records a course. Returns `true` if it is new in this import.
    fn record_course(&mut self, Course { account, slug, .. }: &Course) -> Result<bool, StorageError> {
        let imported = self.imported_courses.get_mut(account).ok_or_else(|| unknown_account(account))?;
        if !is_slug(slug) {
            return Err(StorageError::new(StorageErrorKind::InvalidValue, format!("invalid slug {slug:?}")));
        }
        Ok(imported.insert(slug.as_str().into()))
    }

    async fn write_account(&self, account: &Account) -> Result<Change, StorageError> {
        let Account { id, name, email } = account;
        let id = id.as_str();
        let (stored_name, stored_email) = (stored(name), stored(email));
        let values: Values<'_> = &[&id, &stored_name, &stored_email];
        if self.connection.execute(&INSERT_ACCOUNT, values).await? > 0 {
            return Ok(Change::Added);
        }
        let rows = self.connection.query(&LOCK_ACCOUNT, &[&id]).await?;
        let known: Option<(&str, &str)> =
            rows.first().map(|row| Ok((get(row, "name")?, get(row, "email")?))).transpose()?;
        if known == Some((&stored_name, &stored_email)) {
            return Ok(Change::Unchanged);
        }
        self.connection.execute(&UPDATE_ACCOUNT, values).await?;
        Ok(Change::Changed)
    }

    /// Removes the stored version of a course if it differs.
    async fn remove_outdated(&self, course: &Course) -> Result<Change, StorageError> {
        let change = match find_whole_course(&self.connection, course.account.as_str(), &course.slug).await? {
            None => Change::Added,
            Some(known) if known == *course => return Ok(Change::Unchanged),
            Some(_) => Change::Changed,
        };
        // Even if the course is new: this removes modules that the host application may have left.
        remove_course(&self.connection, &course.account, &course.slug).await?;
        Ok(change)
    }

    async fn prune_account(&mut self, account: &AccountId) -> Result<Vec<(AccountId, String)>, StorageError> {
        let rows = self.connection.query(&SLUGS, &[&account.as_str()]).await?;
        let stored: Vec<&str> = column(&rows)?;
        let imported = self.imported_courses.get(account);
        let pruned: Vec<&str> =
            stored.into_iter().filter(|slug| !imported.is_some_and(|imported| imported.contains(*slug))).collect();
        if pruned.is_empty() {
            return Ok(Vec::new());
        }
        for slugs in pruned.chunks(MAX_PIPELINED_REMOVALS) {
            let removals = slugs.iter().map(|slug| remove_course(&self.connection, account, slug));
            try_join_all(removals).await?;
        }
        self.changed.insert(account.clone());
        Ok(pruned.into_iter().map(|slug| (account.clone(), slug.to_owned())).collect())
    }

    async fn put_one(&mut self, record: Record) -> Result<Change, StorageError> {
        self.put_all(&[record]).await?.swap_remove(0)
    }

    /// Returns `outcome`, and records whether it is an error.
    fn track_failure<T>(&mut self, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
        self.failed |= outcome.is_err();
        outcome
    }
}

#[async_trait]
impl Import for PostgresImport {
    async fn put_account(&mut self, account: &Account) -> Result<Change, StorageError> {
        self.put_one(Record::Account(account.clone())).await
    }

    async fn creation_time(&mut self, account: &AccountId, slug: &str) -> Result<Option<Timestamp>, StorageError> {
        let found = creation_time(&self.connection, account, slug).await;
        self.track_failure(found)
    }

    async fn creation_times(&mut self, courses: &[(AccountId, &str)]) -> Result<Vec<Option<Timestamp>>, StorageError> {
        prepare(&self.connection, &[&CREATION_TIME]).await?;
        let each = courses.iter().map(|(account, slug)| creation_time(&self.connection, account, slug));
        let found = try_join_all(each).await;
        self.track_failure(found)
    }

    async fn put_course(&mut self, course: &Course) -> Result<Change, StorageError> {
        self.put_one(Record::Course(course.clone())).await
    }

    async fn put_all(&mut self, records: &[Record]) -> Result<Vec<Result<Change, StorageError>>, StorageError> {
        let outcomes = self.write_all(records).await;
        self.track_failure(outcomes)
    }

    async fn prune(&mut self) -> Result<Vec<(AccountId, String)>, StorageError> {
        let accounts: Vec<_> = self.imported_accounts.iter().cloned().collect();
        let mut removed = Vec::new();
        for account in accounts {
            let outcome = self.prune_account(&account).await;
            removed.extend(self.track_failure(outcome)?);
        }
        Ok(removed)
    }

    async fn commit(self: Box<Self>) -> Result<(), StorageError> {
        if self.failed {
            return Err(StorageError::new(StorageErrorKind::Other, "the import has failed and was rolled back"));
        }
        for account in &self.changed {
            replace_revision(&self.connection, account).await?;
        }
        commit(&self.connection).await
    }
}

async fn creation_time(
    connection: &Connection,
    account: &AccountId,
    slug: &str,
) -> Result<Option<Timestamp>, StorageError> {
    let Some([account, slug]) = storable([account.as_str(), slug]) else { return Ok(None) };
    let rows = connection.query(&CREATION_TIME, &[&account, &slug]).await?;
    rows.first().map(|row| time(row, "created_at")).transpose()
}

/// Prepares statements that then run many times concurrently; otherwise each run would prepare its own.
async fn prepare(connection: &Connection, statements: &[&Sql<'_>]) -> Result<(), StorageError> {
    try_join_all(statements.iter().map(|sql| connection.prepare(sql))).await.map(|_| ())
}
