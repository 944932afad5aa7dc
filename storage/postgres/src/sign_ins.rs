//! Sign-in links and sessions. Reads use the primary, so an end takes effect immediately.

use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{
    Actor, CredentialAction, CredentialEvent, MAX_SESSIONS, NewSession, NewSignIn, Session, SignInStorage, StorageError,
};
use catalogue_core::{AccountId, Timestamp, async_trait};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::accounts::{check_account, unknown_account};
use crate::citus;
use crate::connection::{Connection, Sql, Values};
use crate::events;
use crate::rows::{account, column, get, time};
use crate::storage::PostgresStorage;
use crate::text::can_be_stored;

/// Retention of expired tokens' revocations, and of expired links and sessions if their account gets no new link.
const SIGN_IN_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Stored names of the kinds of sign-in: links and sessions.
const LINK: &str = "link";
const SESSION: &str = "session";

pub(crate) const FIND_SIGN_IN: Sql = Sql {
    text: "SELECT a.id, a.name, a.email, s.expires_at, TRUE AS is_known FROM sign_ins AS s JOIN accounts AS a ON a.id = s.account_id \
           WHERE s.digest = $1 AND s.kind = $2",
    types: &[Type::BYTEA, Type::TEXT],
};

/// Serializes changes of one account, which affect the same rows. Ordered, so that changes wait instead of deadlocking.
const LOCK_SIGN_INS: Sql = Sql {
    text: "SELECT digest, expires_at FROM sign_ins WHERE account_id = $1 ORDER BY digest FOR UPDATE",
    types: &[Type::TEXT],
};

/// Rows of any account. Skips rows locked by another transaction, so the removal never waits.
const REMOVE_PAST_RETENTION: Sql = Sql {
    text: "DELETE FROM sign_ins WHERE digest = ANY(ARRAY(SELECT digest FROM sign_ins \
           WHERE expires_at <= $1 ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED))",
    types: &[Type::INT8],
};

const NEWEST_SESSIONS: Sql = Sql {
    text: "SELECT digest FROM sign_ins WHERE account_id = $1 AND kind = 'session' \
           ORDER BY created_at DESC, digest DESC",
    types: &[Type::TEXT],
};

const INSERT_SIGN_IN: Sql = Sql {
    text: "INSERT INTO sign_ins (digest, account_id, kind, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
    types: &[Type::BYTEA, Type::TEXT, Type::TEXT, Type::INT8, Type::INT8],
};

/// Names the account too: on Citus its rows are on one node.
const REMOVE: Sql = Sql {
    text: "DELETE FROM sign_ins WHERE account_id = $1 AND digest = ANY($2)",
    types: &[Type::TEXT, Type::BYTEA_ARRAY],
};

const REMOVE_ALL: Sql = Sql { text: "DELETE FROM sign_ins WHERE account_id = $1", types: &[Type::TEXT] };

#[async_trait]
impl SignInStorage for PostgresStorage {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        if !can_be_stored(link.account.as_str()) {
            return Err(unknown_account(&link.account));
        }
        let connection = self.writer().await?;
        let make = || async {
            // Without views, a foreign key checks that the account exists.
            if self.views.is_some() {
                check_account(&connection, &link.account, &self.find_account()).await?;
            }
            create(&connection, link, by).await
        };
        self.transact(&connection, make).await?;
        if connection.is_distributed {
            citus::purge(&connection, &citus::sign_ins::PURGE_SIGN_INS, retention_cutoff(link.created_at)).await;
        }
        Ok(())
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        // Any client may send any link, so an unknown one costs only a read over the pool.
        let found = self.look_up(link, LINK).await?.filter(|found| !found.is_expired(now));
        let Some(Session { account, .. }) = found else { return Ok(None) };
        let connection = self.writer().await?;
        let exchanged = self.transact(&connection, || exchange(&connection, &account.id, link, now, session)).await?;
        Ok(exchanged.map(|()| account))
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.look_up(digest, SESSION).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        let Some(session) = self.look_up(digest, SESSION).await? else { return Ok(()) };
        let connection = self.writer().await?;
        let end = || async {
            if remove(&connection, &session.account.id, &[digest.as_bytes()]).await? == 0 {
                return Ok(None);
            }
            record_event(&connection, &session.account.id, CredentialAction::SignedOut, Timestamp::now(), &Actor::OWNER)
                .await
        };
        self.transact(&connection, end).await.map(|_| ())
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        if !can_be_stored(account.as_str()) {
            return Ok(0);
        }
        self.end_all(account, Some(by)).await
    }
}

impl PostgresStorage {
    fn find_sign_in(&self) -> Sql<'_> {
        self.sql(FIND_SIGN_IN, |statements| &statements.find_sign_in)
    }

    /// Returns the link or session with this digest. If the views lack its account, ends all links and sessions of the account,
    /// because its id may be reused.
    async fn look_up(&self, digest: &TokenDigest, kind: &str) -> Result<Option<Session>, StorageError> {
        let rows = match self.is_distributed {
            true => citus::sign_ins::look_up(&self.readers, digest, kind).await?,
            false => self.readers.read_primary(&self.find_sign_in(), &[&digest.as_bytes().as_slice(), &kind]).await?,
        };
        let Some(row) = rows.first() else { return Ok(None) };
        let account = account(row)?;
        if !get(row, "is_known")? {
            self.end_all(&account.id, None).await?;
            return Ok(None);
        }
        Ok(Some(Session { account, expires_at: time(row, "expires_at")? }))
    }

    /// Ends an account's links and sessions, and returns their number. Records an event if `by` is given.
    async fn end_all(&self, account: &AccountId, by: Option<&Actor>) -> Result<u64, StorageError> {
        let connection = self.writer().await?;
        let end = || async {
            lock(&connection, account).await?;
            // Only a later statement sees what was committed during the wait for the locks.
            let ended = connection.execute(&REMOVE_ALL, &[&account.as_str()]).await?;
            if ended == 0 {
                return Ok(None);
            }
            if let Some(by) = by {
                record_event(&connection, account, CredentialAction::SignedOut, Timestamp::now(), by).await?;
            }
            Ok(Some(ended))
        };
        Ok(self.transact(&connection, end).await?.unwrap_or_default())
    }
}

async fn create(connection: &Connection, link: &NewSignIn, by: &Actor) -> Result<Option<()>, StorageError> {
    let NewSignIn { digest, account, created_at, expires_at } = link;
    insert(connection, LINK, digest, account, [*created_at, *expires_at]).await?;
    let locked = lock(connection, account).await?;
    let mut expired = Vec::new();
    for row in &locked {
        let found: &[u8] = get(row, "digest")?;
        if time(row, "expires_at")? <= *created_at && found != digest.as_bytes() {
            expired.push(found);
        }
    }
    remove(connection, account, &expired).await?;
    if !connection.is_distributed {
        connection.execute(&REMOVE_PAST_RETENTION, &[&retention_cutoff(*created_at)]).await?;
    }
    events::remove_old(connection, account.as_str(), *created_at).await?;
    record_event(connection, account, CredentialAction::LinkMade, *created_at, by).await
}

/// Returns the retention cutoff at `at`: rows that ended at or before it can be removed.
pub(crate) fn retention_cutoff(at: Timestamp) -> i64 {
    at.as_microseconds().saturating_sub(SIGN_IN_RETENTION.as_micros() as i64)
}

async fn exchange(
    connection: &Connection,
    account: &AccountId,
    link: &TokenDigest,
    now: Timestamp,
    session: &NewSession,
) -> Result<Option<()>, StorageError> {
    lock(connection, account).await?;
    // If another call exchanged the link concurrently, it is gone by now.
    if remove(connection, account, &[link.as_bytes()]).await? == 0 {
        return Ok(None);
    }
    let NewSession { digest, created_at, expires_at } = session;
    insert(connection, SESSION, digest, account, [*created_at, *expires_at]).await?;
    let sessions = connection.query(&NEWEST_SESSIONS, &[&account.as_str()]).await?;
    let surplus: Vec<&[u8]> = column(sessions.get(MAX_SESSIONS..).unwrap_or_default())?;
    remove(connection, account, &surplus).await?;
    record_event(connection, account, CredentialAction::SignedIn, now, &Actor::OWNER).await
}

async fn lock(connection: &Connection, account: &AccountId) -> Result<Vec<Row>, StorageError> {
    connection.query(&LOCK_SIGN_INS, &[&account.as_str()]).await
}

async fn insert(
    connection: &Connection,
    kind: &str,
    digest: &TokenDigest,
    account: &AccountId,
    times: [Timestamp; 2],
) -> Result<(), StorageError> {
    let [created_at, expires_at] = times.map(Timestamp::as_microseconds);
    if connection.is_distributed {
        citus::sign_ins::insert_account(connection, digest, account.as_str(), expires_at).await?;
    }
    let values: Values<'_> = &[&digest.as_bytes().as_slice(), &account.as_str(), &kind, &created_at, &expires_at];
    connection.execute(&INSERT_SIGN_IN, values).await.map(|_| ())
}

/// Removes the account's links and sessions with these digests, and returns their number. On Citus, a row that maps a digest to
/// its account stays until it expires, since it may be on a node that is down.
async fn remove(connection: &Connection, account: &AccountId, digests: &[&[u8]]) -> Result<u64, StorageError> {
    if digests.is_empty() {
        return Ok(0);
    }
    connection.execute(&REMOVE, &[&account.as_str(), &digests]).await
}

async fn record_event(
    connection: &Connection,
    account: &AccountId,
    action: CredentialAction,
    at: Timestamp,
    by: &Actor,
) -> Result<Option<()>, StorageError> {
    events::insert(connection, &CredentialEvent::new(account.clone(), action, at, by)).await.map(Some)
}
