//! Creates and prints credentials for `keys` and `tokens`, and describes unknown accounts and ids.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::time::Duration;

use catalogue_core::admin::{Accounts, AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::{NewToken, Scope, Scopes};
use catalogue_core::storage::{Actor, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};
use serde_json::{Value, json};

use crate::cli::Grant;
use crate::database::Storage;
use crate::exit::{Failure, sanitized};
use crate::output;
use crate::redaction::TOKENS;
use crate::text::printable;

/// Sets the expiry of a new credential; without `expires_in`, it never expires.
pub(super) fn set_expiry(credential: &mut NewCredential, expires_in: Option<Duration>) -> Result<(), Failure> {
    let record = &mut credential.record;
    let too_late = || Failure::usage("--expires-in: the expiry is after the year 9999; omit it for no expiry");
    let expiry = |duration| record.created_at.checked_add(duration).ok_or_else(too_late);
    record.expires_at = expires_in.map(expiry).transpose()?;
    Ok(())
}

/// Creates and stores an API key called `name`, or an OAuth token if `name` is `None`, and prints its token.
pub(super) async fn create(storage: &Storage, name: Option<String>, grant: &Grant) -> Result<(), Failure> {
    let (account, scopes) = (AccountId::new(&*grant.account), grant.scopes());
    let (token, mut credential) = match name {
        Some(name) => NewCredential::api_key(account, name, scopes),
        None => NewCredential::oauth_token(account, scopes),
    };
    set_expiry(&mut credential, grant.expires_in)?;
    storage.keys().create_key(&credential, &Actor::OPERATOR).await.map_err(|error| match error.kind() {
        StorageErrorKind::UnknownReference => unknown_account(storage, &grant.account),
        _ => {
            let was_created = format!("{} was created", credential.record.identity.credential_id);
            let hint = format!("{CHECK_HINT}; if it exists, revoke it, as its token was never printed");
            Failure::change_failed(&error, &was_created, &hint)
        }
    })?;
    show_created(&token, &credential.record, None, grant.json)?;
    note_other_scopes(&credential.record.identity.scopes);
    Ok(())
}

/// Prints a note on scopes that no endpoint of this API requires: they may be misspelled.
fn note_other_scopes(scopes: &Scopes) {
    let others: Vec<_> = scopes.iter().filter(|scope| matches!(scope, Scope::Other(_))).map(Scope::name).collect();
    if !others.is_empty() {
        let known: Vec<_> = Scope::DEFINED.iter().map(|(scope, _)| scope.name()).collect();
        let (others, known) = (others.join(" "), known.join(" and "));
        output::print_note(&sanitized(&format!("note: this API uses only the scopes {known}, not {others}")));
    }
}

/// Hint for a change of unknown outcome: the command that shows whether it was made.
pub(super) const CHECK_HINT: &str = "run `catalogue keys list --account ID` to check";

/// Prints the token of a newly stored credential, which is never printed again.
pub(super) fn show_created(
    token: &NewToken,
    record: &CredentialRecord,
    replaces: Option<&CredentialRecord>,
    json: bool,
) -> Result<(), Failure> {
    let printed = if json {
        let CredentialRecord { identity, name, created_at, expires_at, .. } = record;
        let mut created = json!({
            "id": *identity.credential_id, "token": token.expose(), "account": identity.account.as_str(), "name": name,
            "scopes": identity.scopes, "createdAt": created_at, "expiresAt": expires_at,
        });
        if let Some(old) = replaces {
            created["replaces"] = json!({ "id": *old.identity.credential_id, "expiresAt": old.expires_at });
        }
        output::print_json(&created)
    } else {
        output::print(token.expose()).inspect(|()| print_details(record))
    };
    // A lost token cannot be printed again, so its credential should be revoked.
    printed.map_err(|failure| {
        let (why, id) = (failure.message(), &record.identity.credential_id);
        Failure::work(format!("{id} was created, but its token was not printed: {why}; revoke it and create another"))
    })
}

/// Prints details of a new credential to standard error, if that is a terminal.
fn print_details(record: &CredentialRecord) {
    if io::stderr().is_terminal() {
        let CredentialRecord { identity, expires_at, .. } = record;
        let expiry = expires_at.map_or_else(|| "never expires".to_owned(), |time| format!("expires {time}"));
        let (id, account) = (&identity.credential_id, printable(identity.account.as_str()));
        output::print_note(&format!("{id} for {account}, {}, {expiry}. Shown only once.", identity.scopes));
    }
}

/// Returns the failure for an unknown account.
pub(super) fn unknown_account(storage: &Storage, account: &str) -> Failure {
    let account = if looks_like_token(account) { "such account".to_owned() } else { format!("account {account:?}") };
    let more = match storage.views() {
        Some(_) => " in the view catalogue_accounts; see `accounts list`",
        None => "; see `accounts list`, or create accounts with `import`",
    };
    Failure::work(format!("no {account}{more}"))
}

/// Returns the failure for an unknown credential id.
pub(super) fn unknown_id(id: &str) -> Failure {
    if looks_like_token(id) {
        return Failure::work(
            "invalid id: it is too long or looks like a token; see `keys list` for ids, or pass a token on standard \
             input to `keys find -`, `keys revoke --token -` or `keys rotate --token -`",
        );
    }
    Failure::work(format!("no credential has the id {id:?}; see `keys list`"))
}

/// Maximum length of a credential's id: `oauth:` and 32 digits.
const MAX_ID: usize = 38;

/// Returns `true` if a text that should be an id is longer than any id or begins like a token. Such a text is never
/// repeated in messages: a token pasted by mistake must not end up in a log.
pub(super) fn looks_like_token(text: &str) -> bool {
    text.len() > MAX_ID || TOKENS.iter().any(|start| text.starts_with(start))
}

/// Returns a credential as `--json` shows it; `replaces` is its predecessor's id.
pub(super) fn to_json(record: &CredentialRecord, replaces: Option<&str>, now: Timestamp) -> Value {
    let identity = &record.identity;
    json!({
        "id": *identity.credential_id,
        "kind": identity.kind.name(),
        "name": record.name,
        "account": identity.account.as_str(),
        "prefix": record.shown_prefix,
        "scopes": identity.scopes,
        "createdAt": record.created_at,
        "expiresAt": record.expires_at,
        "revokedAt": record.revoked_at,
        "lastUsedAt": record.last_used_at,
        "state": record.state(now).name(),
        "replacedBy": record.replaced_by.as_deref(),
        "replaces": replaces,
    })
}

/// Prints a credential as one JSON object.
pub(super) async fn print_json(storage: &dyn AdminStorage, record: &CredentialRecord) -> Result<(), Failure> {
    let mut replaces = None;
    let mut visit = |other: CredentialRecord| {
        if other.replaced_by.as_ref() == Some(&record.identity.credential_id) {
            replaces = Some(other.identity.credential_id);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let of_account = Accounts::Only(std::slice::from_ref(&record.identity.account));
    storage.visit_credentials(of_account, &mut visit).await?;
    output::print_json(&to_json(record, replaces.as_deref(), Timestamp::now()))
}
