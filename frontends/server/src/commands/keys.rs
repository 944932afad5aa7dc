//! `catalogue keys` and `catalogue tokens`

mod check;
mod rotate;

use catalogue_core::admin::{AdminStorage, CredentialRecord};
use catalogue_core::auth::CredentialKind;
use catalogue_core::{AccountId, Timestamp};

use super::credentials::{self, Shown};
use super::{Context, block_on, table};
use crate::cli::{Grant, KeysCommand, ListKeys, RevokeKey};
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;
use crate::text::printable;

/// A usual row has 144 columns at most. The kind is left out, as the id tells it; `--json` shows everything.
const HEADINGS: [&str; 7] = ["ID", "NAME", "PREFIX", "SCOPES", "CREATED", "LAST USED (UTC)", "STATE (UTC)"];

pub(super) fn run(command: KeysCommand, context: &Context) -> Result<(), Failure> {
    let open = async || -> Result<Storage, Failure> { Ok(context.database()?.open().await?) };
    block_on(async {
        match command {
            KeysCommand::Create(create) => {
                let name = Some(create.name);
                credentials::create(open().await?.admin(), CredentialKind::ApiKey, name, &create.grant).await
            }
            KeysCommand::List(list) => show(open().await?.admin(), &list).await,
            KeysCommand::Rotate(rotate) => rotate::run(open().await?.admin(), &rotate).await,
            KeysCommand::Revoke(revoke) => self::revoke(open().await?.admin(), &revoke).await,
            KeysCommand::Check(check) => check::run(&check),
        }
    })
}

/// `catalogue tokens create`
pub(super) fn create_token(grant: &Grant, context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    block_on(async { credentials::create(database.open().await?.admin(), CredentialKind::OAuth, None, grant).await })
}

async fn show(storage: &dyn AdminStorage, list: &ListKeys) -> Result<(), Failure> {
    let account = AccountId::new(&*list.account);
    let records = storage.list_credentials(&account).await.map_err(|error| Failure::because(&error))?;
    let records = records.ok_or_else(|| credentials::unknown_account(&list.account))?;
    if list.json {
        return output::print_json(&records.iter().map(Shown::from).collect::<Vec<_>>());
    }
    let now = Timestamp::now();
    output::print(&table::aligned(HEADINGS, records.iter().map(|record| row(record, now))))
}

fn row(record: &CredentialRecord, now: Timestamp) -> [String; 7] {
    [
        record.identity.credential_id.to_string(),
        record.name.clone().unwrap_or_else(|| "-".to_owned()),
        record.shown_prefix.clone(),
        record.identity.scopes.to_string(),
        date(record.created_at),
        record.last_used_at.map_or_else(|| "never".to_owned(), minute),
        state(record, now),
    ]
}

/// Whether the credential is of use, and since or until when.
fn state(record: &CredentialRecord, now: Timestamp) -> String {
    match (record.revoked_at, record.expires_at) {
        (Some(time), _) => format!("revoked {}", minute(time)),
        (None, Some(time)) if time <= now => format!("expired {}", minute(time)),
        (None, Some(time)) => format!("until {}", minute(time)),
        (None, None) => "valid".to_owned(),
    }
}

/// `2026-01-02`
fn date(time: Timestamp) -> String {
    minute(time).chars().take_while(|character| *character != ' ').collect()
}

/// `2026-01-02 03:04`, and no later than the time itself.
fn minute(time: Timestamp) -> String {
    let time = time.to_string();
    let parts = time.split_once('T').and_then(|(date, rest)| Some((date, rest.get(..5)?)));
    parts.map_or(time.clone(), |(date, minute)| format!("{date} {minute}"))
}

async fn revoke(storage: &dyn AdminStorage, revoke: &RevokeKey) -> Result<(), Failure> {
    let now = Timestamp::now();
    let record = storage.revoke_credential(&revoke.id, now).await;
    let is_revoked = || format!("{} is revoked", revoke.id);
    let record = record.map_err(|error| Failure::of_change(&error, &is_revoked(), credentials::LOOK))?;
    let record = record.ok_or_else(|| credentials::unknown_id(&revoke.id))?;
    let id = printable(&record.identity.credential_id);
    let done = match record.revoked_at {
        Some(before) if before < now => format!("{id} was revoked before, at {before}"),
        _ => format!("{id} is revoked"),
    };
    let printed = if revoke.json { output::print_json(&Shown::from(&record)) } else { output::print(&done) };
    printed.map_err(|failure| failure.after(&done))
}
