//! Accounts with the counts of what they own, and their removal from the file.

use std::ops::ControlFlow;

use catalogue_core::admin::{Account, AccountSummary, Accounts, RemovedAccount, Visitor};
use catalogue_core::storage::StorageError;
use catalogue_core::{AccountId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params_from_iter};

use crate::columns::columns;
use crate::credentials::account_exists;
use crate::error::removal_error;
use crate::rows::{Micros, account_id, count};
use crate::write::WriteTransaction;

columns!(found, found_columns: id, name, email);

const FIND: &str = concat!("SELECT ", found_columns!(), " FROM accounts WHERE id = ?1");

columns!(summary, summary_columns: id, name, email,
    courses = "(SELECT count(*) FROM courses WHERE account_id = accounts.id)",
    keys = "(SELECT count(*) FROM credentials WHERE account_id = accounts.id AND kind = 'api-key' AND revoked_at IS NULL \
            AND (expires_at IS NULL OR expires_at > ?1))");

columns!(removed, removed_columns: courses = "(SELECT count(*) FROM courses WHERE account_id = ?1)",
    modules = "(SELECT count(*) FROM modules WHERE account_id = ?1)",
    keys = "(SELECT count(*) FROM credentials WHERE account_id = ?1 AND kind = 'api-key')",
    tokens = "(SELECT count(*) FROM credentials WHERE account_id = ?1 AND kind <> 'api-key')");

/// Removes the account first, so that the triggers of its courses find no revision to replace. The other statements remove
/// modules and bodies that belong to no course.
const REMOVE: [&str; 3] = [
    "DELETE FROM accounts WHERE id = ?1",
    "DELETE FROM modules WHERE account_id = ?1",
    "DELETE FROM module_contents WHERE account_id = ?1",
];

/// Returns the ids in order, without duplicates.
pub(crate) fn sorted<'a>(ids: &'a [AccountId]) -> Vec<&'a str> {
    let mut ids: Vec<&'a str> = ids.iter().map(AccountId::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Calls `visit` for each row until it breaks. Runs the statement `all` for all accounts. Otherwise runs `one` for each account
/// in the order of ids; the id is its last parameter, after `values`.
pub(crate) fn visit_rows<T>(
    connection: &Connection,
    [all, one]: [&str; 2],
    values: &[&dyn ToSql],
    accounts: &Accounts<'_>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    visit: &mut Visitor<'_, T>,
) -> rusqlite::Result<ControlFlow<()>> {
    let (sql, ids) = match accounts {
        Accounts::All => (all, vec![None]),
        Accounts::Only(ids) => (one, sorted(ids).into_iter().map(Some).collect()),
    };
    let mut statement = connection.prepare_cached(sql)?;
    for id in ids {
        let values = values.iter().copied().chain(id.iter().map(|id| id as &dyn ToSql));
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if visit(read(row)?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads an account from a row, by the positions of `id`, `name` and `email`.
pub(crate) fn account(row: &Row<'_>, [id, name, email]: [usize; 3]) -> rusqlite::Result<Account> {
    Ok(Account { id: account_id(row, id)?, name: row.get(name)?, email: row.get(email)? })
}

pub(crate) fn find(connection: &Connection, id: &AccountId) -> rusqlite::Result<Option<Account>> {
    let found = |row: &Row<'_>| account(row, [found::id, found::name, found::email]);
    connection.prepare_cached(FIND)?.query_row([id.as_str()], found).optional()
}

fn account_summary(row: &Row<'_>) -> rusqlite::Result<AccountSummary> {
    use summary::{courses, email, id, keys, name};

    Ok(AccountSummary {
        account: account(row, [id, name, email])?,
        courses: count(row, courses)?,
        keys: count(row, keys)?,
    })
}

pub(crate) fn list(
    connection: &mut Connection,
    accounts: Accounts<'_>,
    now: Timestamp,
    visit: &mut Visitor<'_, AccountSummary>,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let all = concat!("SELECT ", summary_columns!(), " FROM accounts ORDER BY id");
    let one = concat!("SELECT ", summary_columns!(), " FROM accounts WHERE id = ?2");
    visit_rows(&transaction, [all, one], &[&Micros(now)], &accounts, account_summary, visit).map(drop)
}

/// Removes the account, and then its bytes that are left in the database's files.
pub(crate) fn remove(
    transaction: WriteTransaction,
    account: &AccountId,
) -> Result<Option<RemovedAccount>, StorageError> {
    let removed = remove_rows(&transaction, account.as_str()).map_err(removal_error)?;
    let Some(mut removed) = removed else { return Ok(None) };
    removed.remains = transaction.commit_and_scrub()?;
    Ok(Some(removed))
}

fn remove_rows(connection: &Connection, account: &str) -> rusqlite::Result<Option<RemovedAccount>> {
    if !account_exists(connection, account)? {
        return Ok(None);
    }
    let counts = |row: &Row<'_>| {
        Ok(RemovedAccount {
            courses: count(row, removed::courses)?,
            modules: count(row, removed::modules)?,
            keys: count(row, removed::keys)?,
            tokens: count(row, removed::tokens)?,
            remains: None,
        })
    };
    connection.pragma_update(None, "secure_delete", true)?;
    let removed = connection.query_row(concat!("SELECT ", removed_columns!()), [account], counts).optional()?;
    for sql in REMOVE {
        connection.execute(sql, [account])?;
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn account_is_found_by_primary_key() {
        assert_eq!(plan(FIND), ["SEARCH accounts USING PRIMARY KEY (id=?)"]);
    }
}
