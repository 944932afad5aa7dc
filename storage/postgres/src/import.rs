//! [`PostgresImport`]: an import in one transaction.

use std::collections::{HashMap, HashSet};

use catalogue_core::{
    Account, AccountId, Change, Course, Import, StorageError, StorageErrorKind, Timestamp, async_trait, is_slug,
};
use futures_util::future::try_join_all;
use tokio_postgres::Error;
use tokio_postgres::types::Type;

use crate::admin::unknown_account;
use crate::connection::{Connection, Sql, Values};
use crate::error::storage_error;
use crate::export::find_whole_course;
use crate::options::Options;
use crate::rows::{get, time};
use crate::text::{can_be_stored, check_storable};

/// Writers to one account come one after the other; new credentials do not wait for them.
const LOCK_ACCOUNT: Sql =
    Sql { text: "SELECT name, email FROM accounts WHERE id = $1 FOR NO KEY UPDATE", types: &[Type::TEXT] };

const INSERT_ACCOUNT: Sql = Sql {
    text: "INSERT INTO accounts (id, name, email) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT],
};

const UPDATE_ACCOUNT: Sql = Sql {
    text: "UPDATE accounts SET name = $2, email = $3 WHERE id = $1",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT],
};

const REPLACE_REVISION: Sql =
    Sql { text: "UPDATE accounts SET revision = gen_random_uuid() WHERE id = $1", types: &[Type::TEXT] };

const CREATION_TIME: Sql = Sql {
    text: "SELECT created_at FROM courses WHERE account_id = $1 AND slug = $2",
    types: &[Type::TEXT, Type::TEXT],
};

const SLUGS: Sql = Sql { text: "SELECT slug FROM courses WHERE account_id = $1", types: &[Type::TEXT] };

const INSERT_COURSE: Sql = Sql {
    text: "INSERT INTO courses \
           (account_id, created_at, slug, title, tagline, language, published_at, hidden, access_mode, module_count) \
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    types: &[
        Type::TEXT,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::BOOL,
        Type::TEXT,
        Type::INT8,
    ],
};

const INSERT_MODULES: Sql = Sql {
    text: "INSERT INTO modules (account_id, course_slug, number, title, summary) \
           SELECT $1, $2, put.number, put.title, put.summary FROM unnest($3, $4, $5) AS put (number, title, summary)",
    types: &[Type::TEXT, Type::TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};

const INSERT_CONTENTS: Sql = Sql {
    text: "INSERT INTO module_contents (account_id, course_slug, number, content) \
           SELECT $1, $2, put.number, put.content FROM unnest($3, $4) AS put (number, content)",
    types: &[Type::TEXT, Type::TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY],
};

/// The courses last, whose number counts.
const REMOVE_COURSES: [Sql; 3] = [
    Sql {
        text: "DELETE FROM module_contents WHERE account_id = $1 AND course_slug = ANY($2)",
        types: &[Type::TEXT, Type::TEXT_ARRAY],
    },
    Sql {
        text: "DELETE FROM modules WHERE account_id = $1 AND course_slug = ANY($2)",
        types: &[Type::TEXT, Type::TEXT_ARRAY],
    },
    Sql {
        text: "DELETE FROM courses WHERE account_id = $1 AND slug = ANY($2)",
        types: &[Type::TEXT, Type::TEXT_ARRAY],
    },
];

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
        connection.run(&Options::begin()).await.map_err(storage_error)?;
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
        let values: Values<'_> = &[&id, name, email];
        if self.connection.execute(&INSERT_ACCOUNT, values).await.map_err(storage_error)? > 0 {
            return Ok(Change::Added);
        }
        let rows = self.connection.query(&LOCK_ACCOUNT, &[&id]).await.map_err(storage_error)?;
        let known: Option<(&str, &str)> = rows.first().map(|row| Ok((get(row, 0)?, get(row, 1)?))).transpose()?;
        if known == Some((name, email)) {
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

    async fn prune_account(&mut self, account: &AccountId) -> Result<u64, StorageError> {
        if !self.is_known(account).await? {
            return Ok(0);
        }
        let rows = self.connection.query(&SLUGS, &[&account.as_str()]).await.map_err(storage_error)?;
        let there: Vec<&str> = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
        let put = self.put_courses.get(account);
        let unwanted: Vec<&str> =
            there.into_iter().filter(|slug| !put.is_some_and(|put| put.contains(*slug))).collect();
        if unwanted.is_empty() {
            return Ok(0);
        }
        let removed = remove_courses(&self.connection, account, &unwanted).await.map_err(storage_error)?;
        self.changed.insert(account.clone());
        Ok(removed)
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
        check_storable([account.id.as_str(), &account.name, &account.email])?;
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
        check_storable(texts_of(course))?;
        if !self.put_courses.entry(course.account.clone()).or_default().insert(course.slug.as_str().into()) {
            return Ok(Change::Repeated);
        }
        let outcome = self.write_course(course).await;
        self.noted(outcome)
    }

    async fn prune(&mut self) -> Result<u64, StorageError> {
        let accounts: Vec<_> = self.put_accounts.iter().cloned().collect();
        let mut removed = 0;
        for account in accounts {
            let outcome = self.prune_account(&account).await;
            removed += self.noted(outcome)?;
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
        self.connection.run("COMMIT").await.map_err(storage_error)
    }
}

fn texts_of(course: &Course) -> impl Iterator<Item = &str> {
    let Course { title, tagline, language, access_mode, modules, .. } = course;
    let modules = modules.iter().flat_map(|module| [&*module.title, &*module.summary, &*module.content]);
    [title.as_str(), tagline, language].into_iter().chain(access_mode.as_deref()).chain(modules)
}

/// Lets other writers to the account wait until this transaction ends; says whether there is such an account.
pub(crate) async fn lock_account(connection: &Connection, account: &AccountId) -> Result<bool, Error> {
    if !can_be_stored(account.as_str()) {
        return Ok(false);
    }
    Ok(!connection.query(&LOCK_ACCOUNT, &[&account.as_str()]).await?.is_empty())
}

/// In the same transaction as the change, as a trigger would do it.
pub(crate) async fn replace_revision(connection: &Connection, account: &AccountId) -> Result<(), Error> {
    connection.execute(&REPLACE_REVISION, &[&account.as_str()]).await.map(|_| ())
}

/// Removes courses with their modules and bodies, and says how many there were.
pub(crate) async fn remove_courses(connection: &Connection, account: &AccountId, slugs: &[&str]) -> Result<u64, Error> {
    let account = account.as_str();
    let values: Values<'_> = &[&account, &slugs];
    let removed = try_join_all(REMOVE_COURSES.iter().map(|sql| connection.execute(sql, values))).await?;
    Ok(removed.last().copied().unwrap_or_default())
}

async fn insert_course(connection: &Connection, course: &Course) -> Result<(), Error> {
    let (account, slug, modules) = (course.account.as_str(), &course.slug, &course.modules);
    let count = modules.len() as i64;
    let created_at = course.created_at.as_microseconds();
    let published_at = course.published_at.map(Timestamp::as_microseconds);
    let Course { title, tagline, language, hidden, access_mode, .. } = course;
    let course: Values<'_> =
        &[&account, &created_at, slug, title, tagline, language, &published_at, hidden, access_mode, &count];

    let numbers: Vec<i64> = (1..=count).collect();
    let titles: Vec<&str> = modules.iter().map(|module| &*module.title).collect();
    let summaries: Vec<&str> = modules.iter().map(|module| &*module.summary).collect();
    let headers: Values<'_> = &[&account, slug, &numbers, &titles, &summaries];

    let contents = numbers.iter().zip(modules).filter(|(_, module)| !module.content.is_empty());
    let (numbers, contents): (Vec<i64>, Vec<&str>) =
        contents.map(|(number, module)| (*number, &*module.content)).unzip();
    let contents: Values<'_> = &[&account, slug, &numbers, &contents];

    let statements = [(&INSERT_COURSE, course), (&INSERT_MODULES, headers), (&INSERT_CONTENTS, contents)];
    try_join_all(statements.map(|(sql, values)| connection.execute(sql, values))).await.map(|_| ())
}
