//! `catalogue accounts`

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::slice::from_ref;

use catalogue_core::admin::{Account, AccountSummary, Accounts, AdminStorage, RemovedAccount};
use catalogue_core::{AccountId, Timestamp};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use super::signals::Signals;
use super::{Context, block_on, credentials, table};
use crate::cli::{AccountsCommand, RemoveAccount};
use crate::database::Storage;
use crate::exit::{Failure, sanitized};
use crate::output;
use crate::text::printable;

const CHECK_HINT: &str = "run `accounts show` to check";

pub(super) fn run(command: AccountsCommand, context: &Context) -> Result<(), Failure> {
    if let AccountsCommand::Remove(remove) = &command {
        context.require_own_courses("accounts remove")?;
        check_confirmable(remove)?;
    }
    let database = context.database()?;
    block_on(async {
        let storage = database.open().await?;
        match command {
            AccountsCommand::List { json } => list(storage.admin(), json).await,
            AccountsCommand::Show { id, json } => show(&storage, &id, json).await,
            AccountsCommand::Remove(arguments) => remove(&storage, &arguments).await,
        }
    })
}

/// Returns the accounts with `ids`. Fails if one does not exist.
pub(super) async fn find(storage: &Storage, ids: &[String]) -> Result<Vec<AccountSummary>, Failure> {
    let requested: Vec<_> = ids.iter().map(|id| AccountId::new(&**id)).collect();
    let found = read(storage.admin(), Accounts::Only(&requested)).await?;
    match requested.iter().find(|id| !found.iter().any(|summary| summary.account.id == **id)) {
        Some(unknown) => Err(credentials::unknown_account(storage, unknown.as_str())),
        None => Ok(found),
    }
}

/// Returns the account `id` with its owner's name, which lists of accounts lack over views. Fails if it does not exist.
pub(super) async fn with_name(storage: &Storage, id: &str) -> Result<Account, Failure> {
    let found = match storage.views() {
        Some(views) => views.find_account(&AccountId::new(id)).await?,
        None => find(storage, &[id.to_owned()]).await?.pop().map(|summary| summary.account),
    };
    found.ok_or_else(|| credentials::unknown_account(storage, id))
}

/// Fails unless the account exists or has events: an account that has left its view may still have keys in the catalogue.
pub(super) async fn check_known(storage: &Storage, id: &String) -> Result<(), Failure> {
    let Err(unknown) = find(storage, from_ref(id)).await else { return Ok(()) };
    let events = storage.keys().list_events(&AccountId::new(&**id), 1).await?;
    if events.is_empty() { Err(unknown) } else { Ok(()) }
}

/// Returns the `accounts` that are missing from the views; none if the catalogue stores the accounts itself.
pub(super) async fn missing_accounts(
    storage: &Storage,
    mut accounts: BTreeSet<AccountId>,
) -> Result<BTreeSet<AccountId>, Failure> {
    if storage.views().is_none() {
        return Ok(BTreeSet::new());
    }
    let ids: Vec<_> = accounts.iter().cloned().collect();
    for found in read(storage.admin(), Accounts::Only(&ids)).await? {
        accounts.remove(&found.account.id);
    }
    Ok(accounts)
}

async fn read(storage: &dyn AdminStorage, accounts: Accounts<'_>) -> Result<Vec<AccountSummary>, Failure> {
    let mut found = Vec::new();
    let mut visit = |summary| {
        found.push(summary);
        ControlFlow::Continue(())
    };
    storage.list_accounts(accounts, Timestamp::now(), &mut visit).await?;
    Ok(found)
}

async fn list(storage: &dyn AdminStorage, json: bool) -> Result<(), Failure> {
    let all = read(storage, Accounts::All).await?;
    if json {
        return output::print_json(&all.iter().map(to_json).collect::<Vec<_>>());
    }
    let row = |AccountSummary { account, courses, keys }: AccountSummary| {
        [account.id.to_string(), account.name, courses.to_string(), keys.to_string()]
    };
    output::print(&table::aligned(["ID", "NAME", "COURSES", "KEYS"], all.into_iter().map(row)))
}

async fn show(storage: &Storage, id: &String, json: bool) -> Result<(), Failure> {
    find(storage, from_ref(id)).await?.into_iter().try_for_each(|summary| match (json, summary) {
        (true, summary) => output::print_json(&to_json(&summary)),
        (false, AccountSummary { account, courses, keys }) => output::print(&table::fields([
            ("id", account.id.to_string()),
            ("name", account.name),
            ("email", account.email),
            ("courses", courses.to_string()),
            ("keys", keys.to_string()),
        ])),
    })
}

/// Returns an account as `--json` shows it.
fn to_json(AccountSummary { account, courses, keys }: &AccountSummary) -> Value {
    json!({ "id": account.id.as_str(), "name": account.name, "email": account.email, "courses": courses, "keys": keys })
}

/// Fails unless `--yes` is given or a terminal can ask for confirmation.
fn check_confirmable(remove: &RemoveAccount) -> Result<(), Failure> {
    if remove.yes || (io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(());
    }
    Err(Failure::usage("cannot ask for confirmation without a terminal; pass --yes to remove the account"))
}

async fn remove(storage: &Storage, remove: &RemoveAccount) -> Result<(), Failure> {
    let mut usable = 0;
    for AccountSummary { account, courses, keys } in find(storage, from_ref(&remove.id)).await? {
        usable = keys;
        if !remove.yes {
            let with = format!("{} and {}", plural(courses, "course"), plural(keys, "active key"));
            confirm(&format!("Remove {} ({:?}) with {with}? [y/N] ", printable(account.id.as_str()), account.name))?;
        }
    }
    let is_removed = format!("{} was removed", sanitized(&remove.id));
    let mut signals = Signals::catch_with_hangup()?;
    let (admin, id, runtime) = (storage.clone().into_admin(), AccountId::new(&*remove.id), Handle::current());
    // SQLite works on the calling thread, which would not notice a signal.
    let removing = spawn_blocking(move || runtime.block_on(admin.remove_account(&id)));
    let removed = tokio::select! {
        removed = removing => removed.unwrap_or_else(|error| resume_unwind(error.into_panic())),
        status = signals.next() => return Err(on_interrupt(storage.admin(), remove, status, &is_removed).await),
    };
    let removed = removed.map_err(|error| Failure::change_failed(&error, &is_removed, CHECK_HINT))?;
    let removed = removed.ok_or_else(|| credentials::unknown_account(storage, &remove.id))?;
    let RemovedAccount { courses, modules, keys, tokens, remains } = removed;
    let mut counts = [(courses, "course"), (modules, "module"), (keys, "key")].map(|(count, what)| plural(count, what));
    if usable != keys {
        // The prompt and `accounts list` contain only the number of active keys.
        counts[2] += &format!(" ({usable} active)");
    }
    let done = format!("{is_removed}, with {} and {}", counts.join(", "), plural(tokens, "token"));
    let printed = if remove.json {
        output::print_json(&json!({
            "id": remove.id, "courses": courses, "modules": modules, "keys": keys, "activeKeys": usable, "tokens": tokens,
            "remains": remains,
        }))
    } else {
        let remains = remains.map(|why| format!("\nremaining data: {why}")).unwrap_or_default();
        output::print(&format!("{done}\ndata in backups, exports and logs is not removed{remains}"))
    };
    printed.map_err(|failure| failure.after(&done))
}

/// Returns the failure of an interrupted removal. An account that was already removed stays removed.
async fn on_interrupt(storage: &dyn AdminStorage, remove: &RemoveAccount, status: u8, is_removed: &str) -> Failure {
    let ids = [AccountId::new(&*remove.id)];
    let what = match read(storage, Accounts::Only(&ids)).await {
        Ok(found) if found.is_empty() => {
            format!("{is_removed}, but its bytes may remain in the database; run `VACUUM` in it to erase them")
        }
        _ => format!("it is not known whether {is_removed}; {CHECK_HINT}"),
    };
    Failure::interrupted(status, &what)
}

fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Asks for confirmation on the terminal. Fails unless the user confirms.
fn confirm(question: &str) -> Result<(), Failure> {
    output::prompt(question);
    let mut reply = String::new();
    let read = io::stdin().read_line(&mut reply);
    match reply.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::work("nothing was removed")),
    }
}
