//! `catalogue accounts`

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;

use catalogue_core::admin::{AccountSummary, Accounts, AdminStorage, RemovedAccount};
use catalogue_core::{AccountId, Timestamp};
use serde::Serialize;
use serde_json::json;

use super::table::{self, Column};
use super::{Context, block_on, credentials};
use crate::cli::{AccountsCommand, RemoveAccount};
use crate::exit::{Failure, harmless};
use crate::output;
use crate::text::printable;

const COLUMNS: [Column; 4] =
    [Column::Whole("ID"), Column::Cut("NAME"), Column::Whole("COURSES"), Column::Whole("KEYS")];

/// An account as `--json` shows it.
#[derive(Serialize)]
struct Shown<'s> {
    id: &'s str,
    name: &'s str,
    email: &'s str,
    courses: u64,
    keys: u64,
}

impl<'s> From<&'s AccountSummary> for Shown<'s> {
    fn from(AccountSummary { account, courses, keys }: &'s AccountSummary) -> Self {
        Self { id: account.id.as_str(), name: &account.name, email: &account.email, courses: *courses, keys: *keys }
    }
}

pub(super) fn run(command: AccountsCommand, context: &Context) -> Result<(), Failure> {
    if let AccountsCommand::Remove(remove) = &command {
        check_confirmable(remove)?;
    }
    let database = context.database()?;
    block_on(async {
        let storage = database.open().await?;
        match command {
            AccountsCommand::List { json } => list(storage.admin(), json).await,
            AccountsCommand::Show { id, json } => show(storage.admin(), &id, json).await,
            AccountsCommand::Remove(arguments) => remove(storage.admin(), &arguments).await,
        }
    })
}

/// Those accounts; a failure where one is not there.
pub(super) async fn find(storage: &dyn AdminStorage, ids: &[String]) -> Result<Vec<AccountSummary>, Failure> {
    let wanted: Vec<_> = ids.iter().map(|id| AccountId::new(&**id)).collect();
    let found = read(storage, Accounts::Only(&wanted)).await?;
    match wanted.iter().find(|id| !found.iter().any(|summary| summary.account.id == **id)) {
        Some(unknown) => Err(credentials::unknown_account(unknown.as_str())),
        None => Ok(found),
    }
}

async fn read(storage: &dyn AdminStorage, accounts: Accounts<'_>) -> Result<Vec<AccountSummary>, Failure> {
    let mut found = Vec::new();
    let mut visit = |summary| {
        found.push(summary);
        ControlFlow::Continue(())
    };
    let listed = storage.list_accounts(accounts, Timestamp::now(), &mut visit).await;
    listed.map(|()| found).map_err(|error| Failure::because(&error))
}

async fn list(storage: &dyn AdminStorage, json: bool) -> Result<(), Failure> {
    let all = read(storage, Accounts::All).await?;
    if json {
        return output::print_json(&all.iter().map(Shown::from).collect::<Vec<_>>());
    }
    let row = |AccountSummary { account, courses, keys }: AccountSummary| {
        vec![account.id.to_string(), account.name, courses.to_string(), keys.to_string()]
    };
    let (text, _) = table::fitted(&COLUMNS, all.into_iter().map(row).collect(), output::terminal_width());
    output::print(&text)
}

async fn show(storage: &dyn AdminStorage, id: &String, json: bool) -> Result<(), Failure> {
    let found = find(storage, std::slice::from_ref(id)).await?;
    for summary in &found {
        let shown = Shown::from(summary);
        if json {
            output::print_json(&shown)?;
            continue;
        }
        let lines = [
            ("id", shown.id.to_owned()),
            ("name", shown.name.to_owned()),
            ("email", shown.email.to_owned()),
            ("courses", shown.courses.to_string()),
            ("keys", shown.keys.to_string()),
        ];
        output::print(&table::fields(lines))?;
    }
    Ok(())
}

/// Refuses to remove what nobody can be asked about.
fn check_confirmable(remove: &RemoveAccount) -> Result<(), Failure> {
    if remove.yes || (io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(());
    }
    Err(Failure::usage("--yes: nobody can be asked here whether the account is to go; write --yes where it is"))
}

async fn remove(storage: &dyn AdminStorage, remove: &RemoveAccount) -> Result<(), Failure> {
    if !remove.yes {
        for AccountSummary { account, courses, keys } in find(storage, std::slice::from_ref(&remove.id)).await? {
            let with = format!("{} and {} that hold", counted(courses, "course"), counted(keys, "key"));
            confirm(&format!("Remove {} ({:?}) with {with}? [y/N] ", printable(account.id.as_str()), account.name))?;
        }
    }
    let removed = storage.remove_account(&AccountId::new(&*remove.id)).await;
    let is_removed = format!("{} was removed", harmless(&remove.id));
    let removed = removed.map_err(|error| Failure::of_change(&error, &is_removed, "`accounts show` finds out"))?;
    let removed = removed.ok_or_else(|| credentials::unknown_account(&remove.id))?;
    let RemovedAccount { courses, modules, keys, tokens, remains } = removed;
    let counts = [(courses, "course"), (modules, "module"), (keys, "key")].map(|(count, what)| counted(count, what));
    let done = format!("{is_removed}, with {} and {}", counts.join(", "), counted(tokens, "token"));
    let printed = if remove.json {
        output::print_json(&json!({
            "id": remove.id, "courses": courses, "modules": modules, "keys": keys, "tokens": tokens, "remains": remains,
        }))
    } else {
        let remains = remains.map(|why| format!("\nsome of it remains: {why}")).unwrap_or_default();
        output::print(&format!("{done}\nbackups and exports keep what they have of it{remains}"))
    };
    printed.map_err(|failure| failure.after(&done))
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Asks on the terminal, and fails unless the answer is yes.
fn confirm(question: &str) -> Result<(), Failure> {
    output::ask(question);
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::work("nothing was removed")),
    }
}
