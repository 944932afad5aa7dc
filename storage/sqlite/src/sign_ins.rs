//! Sign-in links and sessions of the developer settings.

use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CredentialAction, CredentialEvent, MAX_SESSIONS, NewSession, NewSignIn, Session, SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::columns::columns;
use crate::error::storage_error;
use crate::events;
use crate::readers::CREDENTIAL_WAIT;
use crate::rows::{Micros, account_id, time};
use crate::storage::SqliteStorage;

/// Retention of revocations and sign-ins after expiry, so that pages can report an expired session. A new link ends it earlier.
const SIGN_IN_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

const INSERT: &str =
    "INSERT INTO sign_ins (digest, account_id, kind, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";

const REMOVE_EXPIRED: &str = "DELETE FROM sign_ins WHERE account_id = ?1 AND expires_at <= ?2";

/// Removes sign-ins of all accounts past retention, 100 at a time to release the lock soon.
const REMOVE_PAST_RETENTION: &str = "DELETE FROM sign_ins WHERE digest IN \
     (SELECT digest FROM sign_ins WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 100)";

const TAKE_LINK: &str =
    "DELETE FROM sign_ins WHERE digest = ?1 AND kind = 'link' AND expires_at > ?2 RETURNING account_id";

const LIMIT_SESSIONS: &str = "DELETE FROM sign_ins WHERE digest IN (SELECT digest FROM sign_ins \
     WHERE account_id = ?1 AND kind = 'session' ORDER BY created_at DESC, digest DESC LIMIT -1 OFFSET ?2)";

columns!(sign_in, sign_in_columns: account_id, expires_at);

const FIND: &str = concat!("SELECT ", sign_in_columns!(), " FROM sign_ins WHERE digest = ?1 AND kind = ?2");

const END_SESSION: &str = "DELETE FROM sign_ins WHERE digest = ?1 AND kind = 'session' RETURNING account_id";

const END_ALL: &str = "DELETE FROM sign_ins WHERE account_id = ?1";

#[async_trait]
impl SignInStorage for SqliteStorage {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.check_account(&link.account)?;
        let (link, by) = (link.clone(), by.clone());
        self.write(move |connection| {
            create_link(connection, &link).map_err(storage_error)?;
            let action = CredentialAction::LinkMade;
            events::add(connection, &CredentialEvent::new(link.account, action, link.created_at, &by))
        })
        .await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        // Anyone may send a code, so an unknown one costs no write.
        let found = self.find_sign_in(link, "link").await?.filter(|link| link.expires_at > now);
        let Some(Session { account, .. }) = found else { return Ok(None) };
        let (link, session) = (*link, session.clone());
        self.write(move |connection| {
            let account_of_link = exchange_link(connection, &link, now, &session).map_err(storage_error)?;
            let Some(id) = account_of_link else { return Ok(None) };
            let action = CredentialAction::SignedIn;
            events::add(connection, &CredentialEvent::new(id, action, now, &Actor::OWNER))?;
            Ok(Some(account))
        })
        .await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.find_sign_in(digest, "session").await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        let digest = *digest;
        self.write(move |connection| {
            let ended = account_of(connection, END_SESSION, [digest.as_bytes()]).map_err(storage_error)?;
            let Some(account) = ended else { return Ok(()) };
            let (action, now) = (CredentialAction::SignedOut, Timestamp::now());
            events::add(connection, &CredentialEvent::new(account, action, now, &Actor::OWNER))
        })
        .await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        let (account, by) = (account.clone(), by.clone());
        self.write(move |connection| {
            let ended = connection.execute(END_ALL, [account.as_str()]).map_err(storage_error)?;
            if ended > 0 {
                let (action, now) = (CredentialAction::SignedOut, Timestamp::now());
                events::add(connection, &CredentialEvent::new(account, action, now, &by))?;
            }
            Ok(ended as u64)
        })
        .await
    }
}

impl SqliteStorage {
    /// Returns a link or session. If its account no longer exists, removes all of the account's sign-ins: with views, the id
    /// may be given to another account.
    async fn find_sign_in(&self, digest: &TokenDigest, kind: &str) -> Result<Option<Session>, StorageError> {
        let found = self.readers.read_within(CREDENTIAL_WAIT, |connection| {
            let mut statement = connection.prepare_cached(FIND)?;
            let found = |row: &Row<'_>| Ok((account_id(row, sign_in::account_id)?, time(row, sign_in::expires_at)?));
            statement.query_row(params![digest.as_bytes(), kind], found).optional()
        })?;
        let Some((id, expires_at)) = found else { return Ok(None) };
        if let Some(account) = self.find_account(&id)? {
            return Ok(Some(Session { account, expires_at }));
        }
        self.write(move |connection| connection.execute(END_ALL, [id.as_str()]).map_err(storage_error)).await?;
        Ok(None)
    }
}

/// Stores a link, and removes expired sign-ins and old sign-in events.
fn create_link(connection: &Connection, link: &NewSignIn) -> rusqlite::Result<()> {
    let NewSignIn { digest, account, created_at, expires_at } = link;
    let values = params![digest.as_bytes(), account.as_str(), "link", Micros(*created_at), Micros(*expires_at)];
    connection.execute(INSERT, values)?;
    connection.execute(REMOVE_EXPIRED, params![account.as_str(), Micros(*created_at)])?;
    connection.execute(REMOVE_PAST_RETENTION, [retention_cutoff(*created_at)])?;
    events::remove_old(connection, account, *created_at)
}

/// Returns the latest expiry, in microseconds, of sign-ins and revocations that are past retention at `at`.
pub(crate) fn retention_cutoff(at: Timestamp) -> i64 {
    at.as_microseconds().saturating_sub(SIGN_IN_RETENTION.as_micros() as i64)
}

/// Replaces the link by the session. Returns their account; `None` if the link is unknown or expired.
fn exchange_link(
    connection: &Connection,
    link: &TokenDigest,
    now: Timestamp,
    session: &NewSession,
) -> rusqlite::Result<Option<AccountId>> {
    let account_of_link = account_of(connection, TAKE_LINK, params![link.as_bytes(), Micros(now)])?;
    let Some(account) = account_of_link else { return Ok(None) };
    let NewSession { digest, created_at, expires_at } = session;
    let values = params![digest.as_bytes(), account.as_str(), "session", Micros(*created_at), Micros(*expires_at)];
    connection.execute(INSERT, values)?;
    connection.execute(LIMIT_SESSIONS, params![account.as_str(), MAX_SESSIONS as i64])?;
    Ok(Some(account))
}

/// Runs a statement that returns the id of an account.
fn account_of(connection: &Connection, sql: &str, values: impl Params) -> rusqlite::Result<Option<AccountId>> {
    connection.query_row(sql, values, |row| account_id(row, 0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;

    #[test]
    fn sign_in_is_found_by_primary_key() {
        for sql in [TAKE_LINK, FIND, END_SESSION] {
            assert_eq!(plan(sql), ["SEARCH sign_ins USING PRIMARY KEY (digest=?)"], "{sql}");
        }
    }

    #[test]
    fn retention_cleanup_reads_one_index_range() {
        let steps = plan(REMOVE_PAST_RETENTION);
        let expected = "SEARCH sign_ins USING COVERING INDEX sign_ins_by_end (expires_at<?)";
        assert!(steps.iter().any(|step| step == expected), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("USE TEMP")), "{steps:?}");
    }

    #[test]
    fn account_sign_ins_use_account_index() {
        let by_account = "SEARCH sign_ins USING INDEX sign_ins_by_account (account_id=?)";
        for sql in [REMOVE_EXPIRED, LIMIT_SESSIONS, END_ALL] {
            let steps = plan(sql);
            assert!(steps.iter().any(|step| step.starts_with(by_account)), "{sql}: {steps:?}");
            assert!(!steps.iter().any(|step| step.starts_with("USE TEMP")), "{sql}: {steps:?}");
        }
    }
}
