//! [`Changes`]: which accounts were changed since something was read, so that what is kept of the others outlives a commit.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError, TryLockError};

use catalogue_core::AccountId;
use rusqlite::{Connection, ErrorCode};

use crate::cache::Version;
use crate::sync::Mutex;

/// The last change that was seen, and those after it; nothing where a trigger is missing that tells of changes.
const SINCE: &str = "SELECT number, nonce, account_id, (SELECT schema_version FROM pragma_schema_version) FROM account_changes \
     WHERE number >= coalesce(?1, (SELECT max(number) FROM account_changes)) \
     AND (SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name IN ('accounts_inserted', 'accounts_changed', \
     'accounts_removed', 'credentials_inserted', 'credentials_updated', 'credentials_deleted', 'revoked_tokens_inserted', \
     'revoked_tokens_updated', 'revoked_tokens_deleted')) = 9 ORDER BY number";

/// How many accounts are told apart; beyond them all count as changed.
const ACCOUNTS: usize = 10_000;

/// What is known of a file's table of changes.
#[derive(Default)]
pub(crate) struct Changes(Mutex<Seen>);

/// All changes up to a version of the file. Each look at the table has a number, higher than that of the one before.
#[derive(Default)]
pub(crate) struct Seen {
    version: Option<Version>,
    look: u64,
    /// By which look each account was found changed last.
    accounts: HashMap<AccountId, u64>,
    /// By which look all accounts were, or may have been.
    all: u64,
    /// It is looked for again, to know that those after it are all.
    last: Option<Mark>,
}

/// Which change it is. Two histories of a file have no such pair in common that is not of their common past.
#[derive(Clone, PartialEq, Eq)]
struct Mark {
    number: i64,
    nonce: Vec<u8>,
    /// Of the whole file when it was read. Another one may be that of a table which was made anew, without a trigger.
    schema: i64,
}

/// A row of the table.
pub(crate) struct Change {
    mark: Mark,
    /// None for a change that may be of any account.
    account: Option<AccountId>,
}

impl Changes {
    /// Without waiting for who reads more of them.
    pub(crate) fn seen_at_once(&self) -> Option<MutexGuard<'_, Seen>> {
        match self.0.try_lock() {
            Ok(seen) => Some(seen),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        // Whatever a panic leaves is looked at again by version.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Whether all changes up to that version are known.
    pub(crate) fn is_at(&self, version: Version) -> bool {
        self.version == Some(version)
    }

    /// What is read from now on has all changes of this look and of those before.
    pub(crate) fn look(&self) -> u64 {
        self.look
    }

    /// Whether what was read after that look may be another now. No account is any one.
    pub(crate) fn is_changed_since(&self, look: u64, account: Option<&AccountId>) -> bool {
        let changed = account.and_then(|account| self.accounts.get(account));
        self.all > look || changed.is_some_and(|changed| *changed > look)
    }

    /// The changes that are not known yet. The version of the file was looked at before.
    pub(crate) fn read(&self, connection: &Connection) -> rusqlite::Result<Vec<Change>> {
        match self.rows(connection) {
            // A backup of an older schema that was put back has no such table.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => Ok(Vec::new()),
            rows => rows,
        }
    }

    fn rows(&self, connection: &Connection) -> rusqlite::Result<Vec<Change>> {
        let mut statement = connection.prepare_cached(SINCE)?;
        let rows = statement.query_map([self.last.as_ref().map(|last| last.number)], |row| {
            let mark = Mark { number: row.get(0)?, nonce: row.get(1)?, schema: row.get(3)? };
            // An id that is no UTF-8 may be any.
            Ok(Change { mark, account: row.get_ref(2)?.as_str().ok().map(AccountId::from) })
        })?;
        rows.collect()
    }

    /// Takes in what was found, which is from that version or a later one.
    pub(crate) fn add(&mut self, version: Version, changes: Vec<Change>) {
        self.look += 1;
        let is_same_file = self.version.is_some_and(|known| known.epoch == version.epoch);
        let goes_on = changes.first().is_some_and(|first| Some(&first.mark) == self.last.as_ref());
        if !is_same_file || !goes_on || self.accounts.len() + changes.len() > ACCOUNTS {
            self.accounts.clear();
            self.all = self.look;
        }
        self.version = Some(version);
        self.last = changes.last().map(|last| last.mark.clone());
        // An account that was the last to be changed may have been changed again.
        for (at, change) in changes.into_iter().enumerate() {
            match change.account {
                Some(account) => drop(self.accounts.insert(account, self.look)),
                None if at > 0 => self.all = self.look,
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
