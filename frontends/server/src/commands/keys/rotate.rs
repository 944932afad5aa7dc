//! `catalogue keys rotate`

use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::admin::{CredentialRecord, NewCredential};
use catalogue_core::auth::{CredentialKind, Identity};
use catalogue_core::storage::Actor;

use crate::cli::RotateKey;
use crate::commands::credentials;
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;

pub(super) async fn run(storage: &Storage, id: &str, rotate: &RotateKey) -> Result<(), Failure> {
    let old = super::record_of(storage.admin(), id).await?;
    let id = &old.identity.credential_id;
    if old.identity.kind != CredentialKind::ApiKey {
        let why = "is an OAuth token, and only API keys can be rotated; get another from its authorization server";
        return Err(Failure::work(format!("{id} {why}")));
    }
    let Identity { account, scopes, .. } = &old.identity;
    let name = old.name.clone().unwrap_or_default();
    let (token, mut successor) = NewCredential::api_key(account.clone(), name, scopes.clone());
    credentials::set_expiry(&mut successor, rotate.expires_in.or_else(|| lifetime(&old)))?;
    let now = successor.record.created_at;
    check_active(&old, now)?;
    check_has_no_successor(&old)?;
    let ends_at = now.checked_add(rotate.overlap).ok_or_else(|| {
        Failure::usage("--overlap: it ends after the year 9999; create an additional key with `keys create`")
    })?;
    let new = &successor.record.identity.credential_id;
    let keys = storage.keys();
    let replaced = keys.rotate_key(account, id, ends_at, &successor, &Actor::OPERATOR).await.map_err(|error| {
        let hint = format!("{}; if {new} exists, rotate it, as its token was never printed", credentials::CHECK_HINT);
        Failure::change_failed(&error, &format!("{new} has replaced {id}"), &hint)
    })?;
    let changed = || Failure::work(format!("nothing was created: {id} was just revoked or rotated, or has expired"));
    let replaced = replaced.ok_or_else(changed)?;
    credentials::show_created(&token, &successor.record, Some(&replaced), rotate.json)?;
    // The operator did not choose this expiry, so it is reported.
    if let (Some(expiry), None) = (successor.record.expires_at, rotate.expires_in) {
        let why = format!("it has the lifetime of {id}; set another with --expires-in");
        output::print_note(&format!("note: {new} expires at {expiry}: {why}"));
    }
    Ok(())
}

/// Returns the lifetime that the key was created with, or `None` if it never expires.
fn lifetime(key: &CredentialRecord) -> Option<Duration> {
    let microseconds = key.expires_at?.as_microseconds() - key.created_at.as_microseconds();
    Some(Duration::from_micros(u64::try_from(microseconds).unwrap_or_default()))
}

/// Refuses a key that is revoked or expired: an overlap requires that both keys are valid.
fn check_active(key: &CredentialRecord, now: Timestamp) -> Result<(), Failure> {
    let id = &key.identity.credential_id;
    let ended = match (key.revoked_at, key.expires_at) {
        (Some(time), _) => format!("{id} was revoked at {time}"),
        (None, Some(time)) if time <= now => format!("{id} expired at {time}"),
        _ => return Ok(()),
    };
    Err(Failure::work(format!("{ended}, so it cannot be rotated; create another key with `keys create`")))
}

/// Refuses a key that was rotated before: the rotation may have shortened its expiry, so its original lifetime is
/// unknown. This check also prevents a second successor if the command is repeated by mistake.
fn check_has_no_successor(key: &CredentialRecord) -> Result<(), Failure> {
    let Some(successor) = &key.replaced_by else { return Ok(()) };
    let id = &key.identity.credential_id;
    let end = key.expires_at.map(|time| format!(", and expires at {time}")).unwrap_or_default();
    let hint = format!("run `keys rotate {successor}` to replace it, or `keys revoke {id}` to end the old key now");
    Err(Failure::work(format!("{id} already has the successor {successor}{end}; {hint}")))
}
