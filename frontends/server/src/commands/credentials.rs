//! What `keys`, `tokens` and `demo` share: making a credential and showing it.

use std::time::Duration;

use catalogue_core::{
    AccountId, AdminStorage, CredentialKind, CredentialRecord, Identity, NewCredential, NewToken, Scopes,
    StorageErrorKind, Timestamp,
};
use serde::Serialize;
use uuid::Uuid;

use crate::cli::Grant;
use crate::exit::Failure;
use crate::output;

/// A new credential as `--json` shows it, this once with its token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created<'c> {
    id: &'c str,
    token: &'c str,
    account: &'c str,
    name: Option<&'c str>,
    scopes: &'c Scopes,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
}

/// A token, and what is stored of it.
pub(super) fn mint(
    kind: CredentialKind,
    account: AccountId,
    name: Option<String>,
    scopes: Scopes,
    expires_in: Option<Duration>,
) -> Result<(NewToken, NewCredential), Failure> {
    let token = NewToken::mint(kind);
    let digest = token.digest();
    let credential_id = match kind {
        CredentialKind::OAuth => digest.oauth_id(),
        _ => format!("key_{}", Uuid::now_v7().simple()),
    };
    let created_at = Timestamp::now();
    let record = CredentialRecord {
        identity: Identity { account, kind, credential_id, scopes },
        name,
        shown_prefix: token.shown_prefix().to_owned(),
        created_at,
        expires_at: expires_in.map(|duration| expiry(created_at, duration)).transpose()?,
        revoked_at: None,
    };
    Ok((token, NewCredential { digest, record }))
}

fn expiry(created_at: Timestamp, duration: Duration) -> Result<Timestamp, Failure> {
    created_at
        .checked_add(duration)
        .ok_or_else(|| Failure::usage("--expires-in: that is after the year 9999; leave it out for no expiry"))
}

/// Makes a credential, stores it and prints its token.
pub(super) async fn create(
    storage: &dyn AdminStorage,
    kind: CredentialKind,
    name: Option<String>,
    grant: &Grant,
) -> Result<(), Failure> {
    let account = AccountId::new(&*grant.account);
    let (token, credential) = mint(kind, account, name, grant.scopes(), grant.expires_in)?;
    storage.create_credential(&credential).await.map_err(|error| match error.kind() {
        StorageErrorKind::UnknownReference => unknown_account(&grant.account),
        _ => Failure::because(&error),
    })?;
    let NewCredential { record, .. } = credential;
    let printed = if grant.json {
        output::print_json(&Created {
            id: &record.identity.credential_id,
            token: token.expose(),
            account: record.identity.account.as_str(),
            name: record.name.as_deref(),
            scopes: &record.identity.scopes,
            created_at: record.created_at,
            expires_at: record.expires_at,
        })
    } else {
        output::print(token.expose())
    };
    // A token that nobody has seen can never be shown again.
    printed.map_err(|failure| {
        let why = match failure {
            Failure::Work(why) | Failure::Usage(why) => why,
            Failure::ReaderLeft => "nobody reads standard output".to_owned(),
        };
        let id = &record.identity.credential_id;
        Failure::work(format!("{id} was made, but its token could not be shown: {why}; revoke it and make another"))
    })
}

/// Says that an account does not exist.
pub(super) fn unknown_account(account: &str) -> Failure {
    Failure::work(format!("there is no account {account:?}; `import` makes accounts, and `export` shows them"))
}

/// A credential as `--json` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown<'c> {
    id: &'c str,
    kind: &'static str,
    name: Option<&'c str>,
    account: &'c str,
    prefix: &'c str,
    scopes: &'c Scopes,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

impl<'c> From<&'c CredentialRecord> for Shown<'c> {
    fn from(record: &'c CredentialRecord) -> Self {
        Self {
            id: &record.identity.credential_id,
            kind: record.identity.kind.name(),
            name: record.name.as_deref(),
            account: record.identity.account.as_str(),
            prefix: &record.shown_prefix,
            scopes: &record.identity.scopes,
            created_at: record.created_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
        }
    }
}
