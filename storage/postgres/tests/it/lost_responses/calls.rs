//! Calls that write, and queries that check whether each was done.

use catalogue_core::admin::{Account, AdminStorage, CredentialUse, NewCredential};
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{Actor, KeyStorage, SignInStorage, StorageError};
use catalogue_core::{AccountId, Timestamp};
use catalogue_postgres::PostgresStorage;

use crate::course;
use crate::settings::{digest, link, session};

/// The account of a call, and its key and number, which no other call has.
pub(super) struct Subject {
    pub(super) account: AccountId,
    pub(super) key: NewCredential,
    pub(super) number: usize,
}

const AT: i64 = 7;

/// Calls, each with a query for whether all parts were done and whether any was; `$1` is the key, `$2` the new id or name.
pub(super) const CALLS: [(&str, &str); 5] = [
    (
        "record uses",
        "SELECT last_used_at IS NOT NULL, last_used_at IS NOT NULL FROM credentials WHERE id = $1 AND id <> $2",
    ),
    (
        "revoke tokens",
        // Both digests are stored; the call also removes an expired revocation.
        "SELECT count(*) = 2 AND min(revoked_at) = 7, count(*) <> 1 OR min(revoked_at) = 7 FROM revoked_tokens \
         WHERE $1 <> CAST($2 AS TEXT)",
    ),
    (
        "remove course",
        "SELECT count(*) = 0, count(*) = 0 FROM courses WHERE slug = 'course' AND $1 <> CAST($2 AS TEXT)",
    ),
    (
        "remove account",
        "SELECT count(*) = 0, (SELECT count(*) FROM courses) = 0 FROM accounts WHERE id = 'acc' AND $1 <> $2",
    ),
    (
        "import",
        "SELECT a.id IS NOT NULL AND c.slug IS NOT NULL, a.id IS NOT NULL OR c.slug IS NOT NULL \
         FROM (SELECT 1) AS one LEFT JOIN accounts AS a ON a.id = $2 LEFT JOIN courses AS c ON c.slug = $2 \
         WHERE $1 <> $2",
    ),
];

/// Calls of the developer settings, with one query per part that returns a row if the part was done.
pub(super) const SETTINGS: [(&str, &[&str]); 8] = [
    (
        "create key",
        &["SELECT 1 FROM credentials WHERE id = $2", "SELECT 1 FROM credential_events WHERE credential_id = $2"],
    ),
    (
        "rename key",
        &[
            "SELECT 1 FROM credentials WHERE id = $1 AND name = $2",
            "SELECT 1 FROM credential_events WHERE credential_id = $1 AND name = $2",
        ],
    ),
    (
        "rotate key",
        &[
            "SELECT 1 FROM credentials WHERE id = $1 AND replaced_by = $2",
            "SELECT 1 FROM credentials WHERE id = $2",
            "SELECT 1 FROM credential_events WHERE credential_id = $1 AND action = 'key_rotated'",
        ],
    ),
    (
        "revoke key",
        &[
            "SELECT 1 FROM credentials WHERE id = $1 AND revoked_at IS NOT NULL",
            "SELECT 1 FROM credential_events WHERE credential_id = $1 AND action = 'key_revoked'",
        ],
    ),
    ("create link", &["SELECT 1 FROM sign_ins", "SELECT 1 FROM credential_events"]),
    (
        "exchange link",
        &[
            "SELECT 1 HAVING NOT EXISTS (SELECT 1 FROM sign_ins WHERE kind = 'link')",
            "SELECT 1 FROM sign_ins WHERE kind = 'session'",
            "SELECT 1 FROM credential_events WHERE action = 'signed_in'",
        ],
    ),
    ("end session", &ENDED),
    ("end sign-ins", &ENDED),
];

const ENDED: [&str; 2] = [
    "SELECT 1 HAVING NOT EXISTS (SELECT 1 FROM sign_ins)",
    "SELECT 1 FROM credential_events WHERE action = 'signed_out'",
];

/// Combines the queries of `parts` into one query for whether all parts were done and whether any was.
pub(super) fn all_and_any(parts: &[&str]) -> String {
    let parts: Vec<_> = parts.iter().map(|part| format!("(EXISTS ({part}))")).collect();
    let parts = parts.join(", ");
    format!("SELECT bool_and(part), bool_or(part) FROM (VALUES {parts}) AS done (part) WHERE $1 <> CAST($2 AS TEXT)")
}

pub(super) async fn run_call(call: &str, storage: &PostgresStorage, subject: &Subject) -> Result<(), StorageError> {
    let Subject { account, key, number } = subject;
    let (id, at) = (&*key.record.identity.credential_id, Timestamp::from_microseconds(AT).unwrap());
    let (_, mut new) = NewCredential::api_key(account.clone(), "new", Scopes::default());
    new.record.identity.credential_id = format!("new-{number}").into();
    match call {
        "create key" => storage.create_key(&new, &Actor::OWNER).await,
        "rename key" => {
            let name = format!("new-{number}");
            storage.rename_key(account, id, &name, &Actor::OWNER).await.map(|renamed| assert!(renamed.is_some()))
        }
        "rotate key" => {
            let ends_at = new.record.created_at;
            let rotated = storage.rotate_key(account, id, ends_at, &new, &Actor::OWNER).await;
            rotated.map(|rotated| assert!(rotated.is_some()))
        }
        "revoke key" => {
            storage.revoke_key(account, id, at, &Actor::OWNER).await.map(|revoked| assert!(revoked.is_some()))
        }
        "create link" => storage.create_link(&link(account.as_str(), 1, 0), &Actor::OPERATOR).await,
        "exchange link" => {
            let begun = session(2, 0);
            let exchanged = storage.exchange_link(&digest(1), begun.created_at, &begun).await;
            exchanged.map(|account| assert!(account.is_some()))
        }
        "end session" => storage.end_session(&digest(2)).await,
        "end sign-ins" => storage.end_sign_ins(account, &Actor::OPERATOR).await.map(|ended| assert_eq!(ended, 1)),
        "record uses" => {
            storage.record_uses(&[CredentialUse { account: account.clone(), credential_id: id.into(), at }]).await
        }
        "revoke tokens" => storage.revoke_tokens(&[digest(1), digest(2)], Timestamp::MAX, at).await,
        "remove course" => storage.remove_course(account, "course").await.map(|removed| assert!(removed)),
        "remove account" => storage.remove_account(account).await.map(|removed| assert!(removed.is_some())),
        "import" => {
            let id = AccountId::new(format!("new-{number}"));
            let mut import = storage.begin_import().await?;
            import.put_account(&Account { id: id.clone(), name: String::new(), email: String::new() }).await?;
            let mut course = course(&id);
            course.slug = format!("new-{number}");
            import.put_course(&course).await?;
            import.prune().await?;
            import.commit().await
        }
        other => panic!("{other}"),
    }
}
