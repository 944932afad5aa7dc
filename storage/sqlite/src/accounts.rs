//! Accounts with what they have, and their removal from the file.

use std::ops::ControlFlow;

use catalogue_core::admin::{Account, AccountSummary, Accounts, RemovedAccount, Visitor};
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::credentials::account_exists;
use crate::error::removal_error;
use crate::rows::{Micros, account_id, count};
use crate::write::WriteTransaction;

/// What an account has, at `?1`.
const SUMMARY: &str = "SELECT id, name, email, (SELECT count(*) FROM courses WHERE account_id = accounts.id), \
     (SELECT count(*) FROM credentials WHERE account_id = accounts.id AND kind = 'api-key' AND revoked_at IS NULL \
     AND (expires_at IS NULL OR expires_at > ?1)) FROM accounts";

const COUNT: &str = "SELECT (SELECT count(*) FROM courses WHERE account_id = ?1), \
     (SELECT count(*) FROM modules WHERE account_id = ?1), \
     (SELECT count(*) FROM credentials WHERE account_id = ?1 AND kind = 'api-key'), \
     (SELECT count(*) FROM credentials WHERE account_id = ?1 AND kind <> 'api-key')";

/// The account first: the triggers of its courses then find no revision to replace. What is left are modules and bodies that
/// belong to no course.
const REMOVE: [&str; 3] = [
    "DELETE FROM accounts WHERE id = ?1",
    "DELETE FROM modules WHERE account_id = ?1",
    "DELETE FROM module_contents WHERE account_id = ?1",
];

/// Accounts in order, each once.
pub(crate) fn sorted<'a>(ids: &'a [AccountId]) -> Vec<&'a str> {
    let mut ids: Vec<&'a str> = ids.iter().map(AccountId::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Hands each row of a statement on, until somebody breaks off.
pub(crate) fn visit_rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    visit: &mut Visitor<'_, T>,
) -> rusqlite::Result<ControlFlow<()>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        if visit(read(row)?) == ControlFlow::Break(()) {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// `id, name, email`.
pub(crate) fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account { id: account_id(row, 0)?, name: row.get(1)?, email: row.get(2)? })
}

fn summary(row: &Row<'_>) -> rusqlite::Result<AccountSummary> {
    Ok(AccountSummary { account: account(row)?, courses: count(row, 3)?, keys: count(row, 4)? })
}

pub(crate) fn list(
    connection: &mut Connection,
    accounts: Accounts<'_>,
    now: Timestamp,
    visit: &mut Visitor<'_, AccountSummary>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    match accounts {
        Accounts::All => {
            let sql = format!("{SUMMARY} ORDER BY id");
            let _ = visit_rows(&transaction, &sql, [Micros(now)], summary, visit)?;
        }
        Accounts::Only(ids) => {
            let sql = format!("{SUMMARY} WHERE id = ?2");
            for id in sorted(ids) {
                if visit_rows(&transaction, &sql, (Micros(now), id), summary, visit)?.is_break() {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Removes the account, and then what bytes of it are left in the file.
pub(crate) fn remove(
    transaction: WriteTransaction,
    account: &AccountId,
) -> Result<Option<RemovedAccount>, StorageError> {
    let removed = remove_rows(&transaction, account.as_str()).map_err(removal_error)?;
    let Some(mut removed) = removed else { return Ok(None) };
    removed.remains = transaction.commit_without_traces()?;
    Ok(Some(removed))
}

fn remove_rows(connection: &Connection, account: &str) -> rusqlite::Result<Option<RemovedAccount>> {
    if !account_exists(connection, account)? {
        return Ok(None);
    }
    let removed = |row: &Row<'_>| {
        Ok(RemovedAccount {
            courses: count(row, 0)?,
            modules: count(row, 1)?,
            keys: count(row, 2)?,
            tokens: count(row, 3)?,
            remains: None,
        })
    };
    connection.pragma_update(None, "secure_delete", true)?;
    let removed = connection.query_row(COUNT, [account], removed).optional()?;
    for sql in REMOVE {
        connection.execute(sql, [account])?;
    }
    Ok(removed)
}
