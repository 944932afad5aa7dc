//! Calls that write: whether each was done or not, or that it is unknown, is reported truthfully.

use catalogue_core::admin::{Account, CredentialUse, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, NewSession, NewSignIn, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, Timestamp};
use catalogue_storage_conformance::Storage;

use crate::database::{course, digest, import_one_course, key_of};

/// A name of a call, and a query for whether it was done, completely.
pub type Call = (&'static str, &'static str);

/// Calls of the command line and of the recorder of uses, on the state that [`prepare`] creates.
pub const ADMIN_CALLS: [Call; 5] = [
    ("record uses", "SELECT last_used_at = 7 FROM credentials"),
    ("remove course", "SELECT count(*) = 0 FROM courses"),
    ("remove account", "SELECT count(*) = 0 AND (SELECT count(*) = 0 FROM courses) FROM accounts WHERE id = 'acc'"),
    ("import", "SELECT count(*) = 1 AND min(slug) = 'new' AND (SELECT max(name) = 'new' FROM accounts) FROM courses"),
    // The two new revocations: the call also removes the expired one.
    ("revoke tokens", "SELECT count(*) = 2 AND min(revoked_at) = 7 FROM revoked_tokens"),
];

/// Calls of the developer settings, on the state that [`prepare`] creates.
pub const SETTINGS_CALLS: [Call; 8] = [
    (
        "create key",
        "SELECT count(*) = 2 AND (SELECT count(*) = 2 FROM credential_events WHERE action = 'key_created') FROM credentials",
    ),
    ("rename key", "SELECT name = 'new' AND (SELECT max(name) = 'new' FROM credential_events) FROM credentials"),
    (
        "rotate key",
        "SELECT count(*) = 2 AND count(replaced_by) = 1 \
         AND (SELECT count(*) = 1 FROM credential_events WHERE action = 'key_rotated') FROM credentials",
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
];

/// The link to exchange, the session to end, and the link from which that session was created.
const LINK: u8 = 1;
const SESSION: u8 = 2;
const SPENT_LINK: u8 = 3;

/// State of a database after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All parts of the call are stored.
    Done,
    /// The database is unchanged.
    Nothing,
    /// Some parts of the call are stored.
    Torn,
}

/// Creates an account with a course, a key, a link and a session, and a revocation whose token is past retention. Returns the
/// key's id.
pub async fn prepare(storage: &impl Storage) -> String {
    let account = import_one_course(storage).await;
    key_of(storage, &account).await;
    for number in [LINK, SPENT_LINK] {
        storage.create_link(&link(&account, number), &Actor::OWNER).await.unwrap();
    }
    let session = session(SESSION);
    storage.exchange_link(&digest(SPENT_LINK), session.created_at, &session).await.unwrap().unwrap();
    storage.revoke_tokens(&[digest(9)], Timestamp::MIN, Timestamp::MIN).await.unwrap();
    let keys = storage.list_keys(&account, Timestamp::MAX, usize::MAX).await.unwrap().unwrap();
    keys[0].identity.credential_id.to_string()
}

fn link(account: &AccountId, number: u8) -> NewSignIn {
    let NewSession { digest, created_at, expires_at } = session(number);
    NewSignIn { digest, account: account.clone(), created_at, expires_at }
}

fn session(number: u8) -> NewSession {
    let [created_at, expires_at] = [7, 8].map(|time| Timestamp::from_microseconds(time).unwrap());
    NewSession { digest: digest(number), created_at, expires_at }
}

/// Returns every call that writes.
pub fn calls() -> impl Iterator<Item = Call> {
    ADMIN_CALLS.into_iter().chain(SETTINGS_CALLS)
}

/// Makes one of [`calls`].
///
/// # Errors
///
/// Returns the error of the call.
pub async fn run_call(call: &str, storage: &impl Storage, key: &str) -> Result<(), StorageError> {
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
        other => panic!("{other}"),
    }
}

/// Imports an account with the name `new` and with only one course, whose slug becomes `new`.
///
/// # Errors
///
/// Returns the error of the storage.
pub async fn import(storage: &impl Storage, course: &Course) -> Result<(), StorageError> {
    let mut import = storage.begin_import().await?;
    let account = Account { id: course.account.clone(), name: "new".to_owned(), email: String::new() };
    import.put_account(&account).await?;
    import.put_course(&Course { slug: "new".to_owned(), ..course.clone() }).await?;
    import.prune().await?;
    import.commit().await
}

/// Returns what an outcome reports: `done`, `not known` or `not done`, with the error after a colon.
pub fn report(outcome: Result<(), StorageError>) -> String {
    match outcome {
        Ok(()) => "done".to_owned(),
        Err(error) if error.kind() == StorageErrorKind::OutcomeUnknown => format!("not known: {error:?}"),
        Err(error) => format!("not done: {error:?}"),
    }
}

/// Returns whether `reported` is true of each of `states`.
pub fn is_truthful(reported: &str, states: &[State]) -> bool {
    states.iter().all(|state| match reported {
        "done" => *state == State::Done,
        reported if reported.starts_with("not done") => *state == State::Nothing,
        _ => *state != State::Torn,
    })
}
