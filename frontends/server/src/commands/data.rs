//! `catalogue export` and `migrate`

use std::io;

use catalogue_core::admin::Accounts;
use catalogue_transfer::ExportError;
use indicatif::ProgressBar;
use serde_json::json;

use super::{Context, accounts, block_on, progress};
use crate::cli::MigrateArguments;
use crate::database::{Database, PostgresOptions};
use crate::exit::Failure;
use crate::output;
use crate::settings::table::{DATABASE_SCHEMA, VIEWS};

/// Exports the accounts with `ids`, or all accounts if `ids` is empty.
pub(super) fn export(ids: &[String], context: &Context) -> Result<(), Failure> {
    let database = context.require_own_courses("export")?;
    output::check_output_visible("nothing was exported", "")?;
    // Only for a file: behind a pipe another program may show progress, and on a terminal the bar would mix with the output.
    let bar = if output::is_regular_file() { progress::begin("exporting", None) } else { ProgressBar::hidden() };
    let exported = block_on(async {
        let storage = database.open().await?;
        let found: Vec<_> = accounts::find(&storage, ids).await?.into_iter().map(|found| found.account.id).collect();
        let accounts = if ids.is_empty() { Accounts::All } else { Accounts::Only(&found) };
        let target = bar.wrap_write(io::stdout());
        let exported = catalogue_transfer::export(storage.admin(), accounts, target).await;
        exported.map_err(|error| match error {
            ExportError::Target(error) => output::write_failure(&error),
            other => other.into(),
        })
    });
    bar.finish_and_clear();
    exported
}

pub(super) fn migrate(arguments: &MigrateArguments, context: &Context) -> Result<(), Failure> {
    let mut database = context.database()?;
    let MigrateArguments { without_triggers, citus, json } = *arguments;
    let is_postgres = matches!(database, Database::Postgres(_));
    let options = [(without_triggers, "--without-triggers"), (citus, "--citus")];
    if let Some((_, option)) = options.iter().find(|(is_given, _)| *is_given && !is_postgres) {
        return Err(Failure::usage(format!("{option}: only for PostgreSQL; omit it")));
    }
    if without_triggers {
        database = database.with(PostgresOptions::without_triggers);
    }
    if citus {
        database = database.with(PostgresOptions::citus);
    }
    let (from, to) = block_on(database.migrate())?;
    let done = match from {
        _ if from == to => format!("{database}: the schema is up to date: version {to}"),
        0 if context.settings.get(&VIEWS) => {
            let schema = context.settings.given(&DATABASE_SCHEMA).unwrap_or_else(|| "catalogue".to_owned());
            let place = if is_postgres { format!(" in schema {schema}") } else { String::new() };
            format!("{database}: created the tables for keys{place}: version {to}")
        }
        0 => format!("{database}: created a new database: schema version {to}"),
        _ => format!("{database}: migrated the schema from version {from} to version {to}"),
    };
    let printed = if json { output::print_json(&json!({ "from": from, "to": to })) } else { output::print(&done) };
    printed.map_err(|failure| failure.after(&done))
}
