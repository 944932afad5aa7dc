//! `catalogue keys` and `catalogue tokens`

mod check;
mod find;
mod list;
mod log;
#[cfg(feature = "oauth")]
mod revoke_token;
mod rotate;
mod selector;

use std::io::{self, IsTerminal as _};

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialRecord};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::Actor;

#[cfg(feature = "oauth")]
use super::check_token;
use super::{Context, block_on, credentials};
use crate::cli::{CreateKey, Grant, KeysCommand, RevokeKey, TokensCommand};
use crate::database::Storage;
use crate::exit::Failure;
use crate::output;
use crate::text::printable;
use selector::CredentialSelector;

pub(super) fn run(command: KeysCommand, context: &Context) -> Result<(), Failure> {
    match command {
        KeysCommand::Create(CreateKey { name, grant }) => create(Some(name), &grant, context),
        KeysCommand::List(arguments) => block_on(async { list::run(&open(context).await?, &arguments, None).await }),
        KeysCommand::Find(arguments) => find::run(&arguments, context),
        KeysCommand::Rotate(arguments) => {
            output::check_output_visible("nothing was created", ", so the secret would be lost")?;
            let selector = CredentialSelector::of(arguments.id.as_deref(), arguments.token.as_deref())?;
            block_on(async {
                let storage = open(context).await?;
                rotate::run(&storage, &selector.id(&storage).await?, &arguments).await
            })
        }
        KeysCommand::Revoke(arguments) => {
            let selector = CredentialSelector::of(arguments.id.as_deref(), arguments.token.as_deref())?;
            block_on(async {
                let storage = open(context).await?;
                revoke(&storage, &selector.id(&storage).await?, &arguments).await
            })
        }
        KeysCommand::Log { account, json } => block_on(async { log::run(&open(context).await?, &account, json).await }),
        KeysCommand::Check { json } => check::run(json),
    }
}

/// `catalogue tokens`
pub(super) fn run_tokens(command: TokensCommand, context: &Context) -> Result<(), Failure> {
    match command {
        TokensCommand::Create(grant) => create(None, &grant, context),
        #[cfg(feature = "oauth")]
        TokensCommand::Check { json } => check_token::run(json, context),
        #[cfg(feature = "oauth")]
        TokensCommand::Revoke { account } => revoke_token::run(account.as_deref(), context),
        TokensCommand::List(arguments) => {
            let kind = Some(CredentialKind::OAuth);
            block_on(async { list::run(&open(context).await?, &arguments, kind).await })
        }
    }
}

/// Opens the database with a long write timeout, because another program may be writing.
pub(super) async fn open(context: &Context) -> Result<Storage, Failure> {
    Ok(context.database()?.open().await?.with_long_write_timeout())
}

fn create(name: Option<String>, grant: &Grant, context: &Context) -> Result<(), Failure> {
    output::check_output_visible("nothing was created", ", so the secret would be lost")?;
    block_on(async { credentials::create(&open(context).await?, name, grant).await })
}

/// Formats a time as `2026-01-02 03:04`, in UTC and rounded down.
fn minute(time: Timestamp) -> String {
    let time = time.to_string();
    let parts = time.split_once('T').and_then(|(date, rest)| Some((date, rest.get(..5)?)));
    parts.map_or(time.clone(), |(date, minute)| format!("{date} {minute}"))
}

fn minute_or_never(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "never".to_owned(), minute)
}

async fn record_of(storage: &dyn AdminStorage, id: &str) -> Result<CredentialRecord, Failure> {
    storage.find_credential_record(id).await?.ok_or_else(|| credentials::unknown_id(id))
}

async fn revoke(storage: &Storage, id: &str, arguments: &RevokeKey) -> Result<(), Failure> {
    let failed = |error| Failure::change_failed(&error, &format!("{id} is revoked"), credentials::CHECK_HINT);
    let unknown = || credentials::unknown_id(id);
    let found = storage.admin().find_credential_record(id).await.map_err(failed)?.ok_or_else(unknown)?;
    let now = Timestamp::now();
    let record = storage.keys().revoke_key(&found.identity.account, id, now, &Actor::OPERATOR).await;
    let record = record.map_err(failed)?.ok_or_else(unknown)?;
    let id = printable(&record.identity.credential_id);
    let done = match record.revoked_at {
        Some(before) if before < now => format!("{id} was already revoked at {before}"),
        _ => format!("{id} is revoked"),
    };
    let printed =
        if arguments.json { credentials::print_json(storage.admin(), &record).await } else { output::print(&done) };
    printed.map_err(|failure| failure.after(&done))?;
    // Identifies the key for an operator who has only its token. A script's standard error stays empty.
    if io::stderr().is_terminal() {
        let name = record.name.as_deref().map(|name| format!("name {name:?}, ")).unwrap_or_default();
        output::print_note(&printable(&format!("{name}account {}", record.identity.account)));
    }
    Ok(())
}
