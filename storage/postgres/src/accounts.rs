//! Listing accounts with the numbers of their courses and keys, page by page, and removing accounts.

use std::collections::HashMap;
use std::mem;
use std::ops::ControlFlow;

use catalogue_core::admin::{Account, AccountSummary, Accounts, RemovedAccount, Visitor};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::citus::credentials::REMOVE_ACCOUNTS_OF_DIGESTS;
use crate::connection::{Connection, Sql, Values};
use crate::error::removal_error;
use crate::rows::{account, get};
use crate::text::can_be_stored;

/// Maximum number of accounts on a page of all accounts. Named accounts are on one page.
const PAGE: i64 = 500;

pub(crate) const PAGE_OF_ALL: Sql = Sql {
    text: "SELECT id, name, email FROM accounts WHERE id >= $1 ORDER BY id LIMIT $2",
    types: &[Type::TEXT, Type::INT8],
};

pub(crate) const NAMED_ACCOUNTS: Sql =
    Sql { text: "SELECT id, name, email FROM accounts WHERE id = ANY($1) ORDER BY id", types: &[Type::TEXT_ARRAY] };

pub(crate) const COURSES_OF: Sql = Sql {
    text: "SELECT account_id, count(*) FROM courses WHERE account_id = ANY($1) GROUP BY account_id",
    types: &[Type::TEXT_ARRAY],
};

const KEYS_OF: Sql = Sql {
    text: "SELECT account_id, count(*) FROM credentials WHERE account_id = ANY($1) AND kind = 'api-key' \
           AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) GROUP BY account_id",
    types: &[Type::TEXT_ARRAY, Type::INT8],
};

/// Prevents new credentials of the account until the transaction ends.
const LOCK: Sql = Sql { text: "SELECT id FROM accounts WHERE id = $1 FOR UPDATE", types: &[Type::TEXT] };

/// The account comes last, as the other rows refer to it.
const REMOVE: [Sql; 8] = [
    Sql { text: "DELETE FROM sign_ins WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM credential_events WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM module_contents WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM courses WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM modules WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM credentials WHERE account_id = $1 AND kind = 'api-key'", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM credentials WHERE account_id = $1", types: &[Type::TEXT] },
    Sql { text: "DELETE FROM accounts WHERE id = $1", types: &[Type::TEXT] },
];

/// Note on what a removal does not erase.
const REMAINS: &str = "PostgreSQL keeps removed rows in its files until VACUUM overwrites them, and in its log until that is \
                       recycled";

/// Returns the ids that the database can store, sorted and without duplicates.
pub(crate) fn sorted(ids: &[AccountId]) -> Vec<&str> {
    let mut ids: Vec<&str> = ids.iter().map(AccountId::as_str).filter(|id| can_be_stored(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Pages of accounts by id, all read from one snapshot.
pub(crate) struct Pages<'c> {
    connection: &'c Connection,
    accounts: Accounts<'c>,
    /// Statements for a page of all accounts, and for the named ones.
    sql: [Sql<'c>; 2],
    /// First id of the next page; `None` after the last.
    from: Option<String>,
}

impl<'c> Pages<'c> {
    /// Begins paging, in a new transaction that ends with the connection.
    pub(crate) async fn begin(
        connection: &'c Connection,
        accounts: Accounts<'c>,
        sql: [Sql<'c>; 2],
    ) -> Result<Self, StorageError> {
        connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        Ok(Self { connection, accounts, sql, from: Some(String::new()) })
    }

    /// Returns the next page, or an empty one after the last.
    pub(crate) async fn next(&mut self) -> Result<Vec<Account>, StorageError> {
        let Some(from) = mem::take(&mut self.from) else { return Ok(Vec::new()) };
        let [of_all, named] = &self.sql;
        let rows = match self.accounts {
            Accounts::All => self.connection.query(of_all, &[&from, &PAGE]).await,
            Accounts::Only(ids) => self.connection.query(named, &[&sorted(ids)]).await,
        };
        let mut page = Vec::new();
        for row in &rows? {
            page.push(account(row)?);
        }
        // No text sorts between an id and the id with U+0001 appended, which is the lowest character that can be stored.
        let last = page.last().filter(|_| self.accounts == Accounts::All);
        self.from = last.map(|last| format!("{}\u{1}", last.id));
        Ok(page)
    }
}

pub(crate) async fn list(
    connection: &Connection,
    accounts: Accounts<'_>,
    now: Timestamp,
    [of_all, named, courses_of]: [Sql<'_>; 3],
    visit: &mut Visitor<'_, AccountSummary>,
) -> Result<(), StorageError> {
    let mut pages = Pages::begin(connection, accounts, [of_all, named]).await?;
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = page.iter().map(|account| account.id.as_str()).collect();
        let courses = counts(connection, &courses_of, &[&ids]).await?;
        let keys = counts(connection, &KEYS_OF, &[&ids, &now.as_microseconds()]).await?;
        let count = |counts: &HashMap<String, u64>, id| counts.get(id).copied().unwrap_or_default();
        let counted: Vec<_> = ids.iter().map(|id| (count(&courses, *id), count(&keys, *id))).collect();
        for (account, (courses, keys)) in page.into_iter().zip(counted) {
            if visit(AccountSummary { account, courses, keys }) == ControlFlow::Break(()) {
                return Ok(());
            }
        }
    }
}

/// Returns the counts that `sql` selects, by account id.
async fn counts(
    connection: &Connection,
    sql: &Sql<'_>,
    values: Values<'_>,
) -> Result<HashMap<String, u64>, StorageError> {
    let rows = connection.query(sql, values).await?;
    rows.iter().map(|row| Ok((get(row, "account_id")?, get::<i64>(row, "count")?.unsigned_abs()))).collect()
}

/// Removes the account, in a transaction that the caller commits.
pub(crate) async fn remove(connection: &Connection, account: &str) -> Result<Option<RemovedAccount>, StorageError> {
    if connection.query(&LOCK, &[&account]).await?.is_empty() {
        return Ok(None);
    }
    if connection.is_distributed {
        for sql in &REMOVE_ACCOUNTS_OF_DIGESTS {
            connection.execute(sql, &[&account]).await?;
        }
    }
    let mut removed = [0; REMOVE.len()];
    for (count, sql) in removed.iter_mut().zip(&REMOVE) {
        *count = connection.execute(sql, &[&account]).await.map_err(removal_error)?;
    }
    let [_, _, _, courses, modules, keys, tokens, _] = removed;
    Ok(Some(RemovedAccount { courses, modules, keys, tokens, remains: Some(REMAINS.to_owned()) }))
}

/// Returns an error unless the statement `find` finds the account.
pub(crate) async fn check_account(
    connection: &Connection,
    account: &AccountId,
    find: &Sql<'_>,
) -> Result<(), StorageError> {
    self::find(connection, account, find).await?.map(drop).ok_or_else(|| unknown_account(account))
}

/// Returns the row of the statement `sql` for the account, or `None` if it does not exist.
pub(crate) async fn find(connection: &Connection, id: &AccountId, sql: &Sql<'_>) -> Result<Option<Row>, StorageError> {
    let rows = if can_be_stored(id.as_str()) { connection.query(sql, &[&id.as_str()]).await? } else { Vec::new() };
    Ok(rows.into_iter().next())
}

pub(crate) fn unknown_account(account: &AccountId) -> StorageError {
    StorageError::new(StorageErrorKind::UnknownReference, format!("no account {account:?}"))
}
