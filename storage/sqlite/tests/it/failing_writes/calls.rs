//! Calls that write, made by a child process, and queries that check whether each was done.

use std::env;
use std::fs;
use std::path::Path;

use catalogue_core::admin::{Account, AdminStorage, CredentialUse, NewCredential};
use catalogue_core::auth::{Scopes, TokenDigest};
use catalogue_core::storage::{
    Actor, KeyStorage, NewSession, NewSignIn, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_sqlite::{OpenError, SqliteStorage};

use crate::course;

/// Name of a call for the child process, and a query that checks whether it was done.
pub(super) type Call = (&'static str, &'static str);

pub(super) const CALLS: [Call; 13] = [
    RECORD_USES,
    ("remove course", "SELECT count(*) = 0 FROM courses"),
    ("remove account", "SELECT count(*) = 0 FROM accounts WHERE id = 'acc'"),
    ("import", "SELECT count(*) = 1 AND min(slug) = 'new' AND (SELECT max(name) = 'new' FROM accounts) FROM courses"),
    (
        "create key",
        "SELECT count(*) = 2 AND (SELECT count(*) = 2 FROM credential_events WHERE action = 'key_created') FROM credentials",
    ),
    ("rename key", "SELECT name = 'new' AND (SELECT max(name) = 'new' FROM credential_events) FROM credentials"),
    (
        "rotate key",
        "SELECT count(*) = 2 AND (SELECT count(*) = 1 FROM credential_events WHERE action = 'key_rotated') FROM credentials",
    ),
    (
        "revoke key",
        "SELECT revoked_at = 7 AND (SELECT count(*) = 1 FROM credential_events WHERE action = 'key_revoked') FROM credentials",
    ),
    ("create link", "SELECT count(*) = 3 AND (SELECT count(*) = 5 FROM credential_events) FROM sign_ins"),
    (
        "exchange link",
        "SELECT count(*) = 2 AND (SELECT max(action) = 'signed_in' AND count(*) = 5 FROM credential_events) \
         AND min(kind) = 'session' FROM sign_ins",
    ),
    ("end session", "SELECT count(*) = 1 AND (SELECT max(action) = 'signed_out' FROM credential_events) FROM sign_ins"),
    (
        "end sign-ins",
        "SELECT count(*) = 0 AND (SELECT max(action) = 'signed_out' FROM credential_events) FROM sign_ins",
    ),
    // The two new revocations: the call also removes the expired one.
    ("revoke tokens", "SELECT count(*) = 2 AND min(revoked_at) = 7 FROM revoked_tokens"),
];

pub(super) const LARGE_IMPORT: Call = ("large import", CALLS[3].1);

/// The link to exchange, the session to end, and the link from which that session was created.
const LINK: u8 = 1;
const SESSION: u8 = 2;
const SPENT_LINK: u8 = 3;

/// Number of courses for which SQLite spills its list of dirty pages to a temporary file.
const SPILL_COURSES: usize = 14_000;
pub(super) const SPILLING_IMPORT: Call = ("spilling import", "SELECT count(*) > 14000 FROM courses");

pub(super) const RECORD_USES: Call = ("record uses", "SELECT last_used_at = 7 FROM credentials");

/// Migration of a new database. The query accepts any schema version.
pub(super) const MIGRATION: Call = ("migrate", "SELECT user_version >= 1 FROM pragma_user_version");

pub(super) const CALL: &str = "CALL_UNDER_TEST";
pub(super) const KEY: &str = "KEY_UNDER_TEST";
/// The file to which the child writes the outcome of the call.
pub(super) const OUTCOME_FILE: &str = "outcome";

/// In a child process, makes the call that the environment names, on the database in the working directory.
#[tokio::test]
async fn child() {
    let Ok(call) = env::var(CALL) else { return };
    let path = Path::new("catalogue.db");
    let outcome = match &*call {
        "migrate" => SqliteStorage::migrate(path).map(|_| ()).map_err(cause),
        call => run_call(call, &SqliteStorage::open(path).unwrap(), &env::var(KEY).unwrap()).await,
    };
    let outcome_text = match outcome {
        Ok(()) => "done".to_owned(),
        Err(error) if error.kind() == StorageErrorKind::OutcomeUnknown => format!("not known: {error:?}"),
        Err(error) => format!("not done: {error:?}"),
    };
    fs::write(OUTCOME_FILE, outcome_text).unwrap();
}

fn cause(error: OpenError) -> StorageError {
    match error {
        OpenError::Failed { source, .. } => source,
        other => panic!("{other:?}"),
    }
}

/// Stores a revocation whose token is past retention.
pub(super) async fn revoke_expired_token(storage: &SqliteStorage) {
    storage.revoke_tokens(&[digest(9)], Timestamp::MIN, Timestamp::MIN).await.unwrap();
}

/// Stores a link and a session.
pub(super) async fn sign_in(storage: &SqliteStorage, account: &AccountId) {
    for number in [LINK, SPENT_LINK] {
        storage.create_link(&link(account, number), &Actor::OWNER).await.unwrap();
    }
    let session = session(SESSION);
    storage.exchange_link(&digest(SPENT_LINK), session.created_at, &session).await.unwrap().unwrap();
}

fn digest(number: u8) -> TokenDigest {
    TokenDigest::from_bytes([number; 32])
}

fn link(account: &AccountId, number: u8) -> NewSignIn {
    let NewSession { digest, created_at, expires_at } = session(number);
    NewSignIn { digest, account: account.clone(), created_at, expires_at }
}

fn session(number: u8) -> NewSession {
    let [created_at, expires_at] = [7, 8].map(|time| Timestamp::from_microseconds(time).unwrap());
    NewSession { digest: digest(number), created_at, expires_at }
}

async fn run_call(call: &str, storage: &SqliteStorage, key: &str) -> Result<(), StorageError> {
    let (account, at) = (AccountId::new("acc"), Timestamp::from_microseconds(7).unwrap());
    let (_, new) = NewCredential::api_key(account.clone(), "new", Scopes::default());
    match call {
        "create key" => storage.create_key(&new, &Actor::OWNER).await,
        "rename key" => {
            storage.rename_key(&account, key, "new", &Actor::OWNER).await.map(|found| assert!(found.is_some()))
        }
        "rotate key" => {
            storage.rotate_key(&account, key, at, &new, &Actor::OWNER).await.map(|found| assert!(found.is_some()))
        }
        "revoke key" => {
            storage.revoke_key(&account, key, at, &Actor::OWNER).await.map(|found| assert!(found.is_some()))
        }
        "create link" => storage.create_link(&link(&account, 9), &Actor::OWNER).await,
        "exchange link" => {
            storage.exchange_link(&digest(LINK), at, &session(9)).await.map(|found| assert!(found.is_some()))
        }
        "end session" => storage.end_session(&digest(SESSION)).await,
        "end sign-ins" => storage.end_sign_ins(&account, &Actor::OWNER).await.map(|ended| assert_eq!(ended, 2)),
        "record uses" => storage.record_uses(&[CredentialUse { account, credential_id: key.into(), at }]).await,
        "revoke tokens" => storage.revoke_tokens(&[digest(1), digest(2)], Timestamp::MAX, at).await,
        "remove course" => storage.remove_course(&account, "course").await.map(|removed| assert!(removed)),
        "remove account" => storage.remove_account(&account).await.map(|removed| assert!(removed.is_some())),
        "import" => import(storage, &course(&account)).await,
        // Fills more than the first block of the WAL index.
        "large import" => {
            let mut large = course(&account);
            large.modules[0].content = "x".repeat(18 << 20);
            import(storage, &large).await
        }
        "spilling import" => {
            let mut import = storage.begin_import().await?;
            for number in 0..SPILL_COURSES {
                let slug = format!("{number:0190}");
                import.put_course(&Course { slug, modules: Vec::new(), ..course(&account) }).await?;
            }
            import.commit().await
        }
        other => panic!("{other}"),
    }
}

async fn import(storage: &SqliteStorage, course: &Course) -> Result<(), StorageError> {
    let mut import = storage.begin_import().await?;
    let account = Account { id: course.account.clone(), name: "new".to_owned(), email: String::new() };
    import.put_account(&account).await?;
    import.put_course(&Course { slug: "new".to_owned(), ..course.clone() }).await?;
    import.prune().await?;
    import.commit().await
}
