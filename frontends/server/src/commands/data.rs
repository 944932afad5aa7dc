//! What moves data, and prepares a database for it: `catalogue import`, `export` and `migrate`.

use std::io;

use super::{Context, block_on};
use crate::cli::{ImportArguments, MigrateArguments};
use crate::database::{Database, Migrated, Migration};
use crate::exit::Failure;
use crate::import::{self, Input, Options, Progress, Report};
use crate::{export, output};

pub(super) fn import(arguments: &ImportArguments, context: &Context) -> Result<(), Failure> {
    let migration = context.settings.migration();
    let database = context.database()?;
    // The input is opened before the database, so that a mistyped name does not leave a new database behind.
    let input = Input::open(&arguments.file)?;
    let options = Options { prune: arguments.prune, dry_run: arguments.dry_run };
    let report = block_on(async {
        let is_new = database.is_missing();
        let outcome = import_from(input, &database, migration, options).await;
        if is_new && outcome.is_err() {
            database.remove_if_empty().await;
        }
        outcome
    })?;
    let printed = if arguments.json { output::print_json(&report) } else { output::print(&report.to_string()) };
    printed.map_err(|failure| match failure {
        failure if report.dry_run => failure.after("nothing was changed"),
        Failure::Work(why) => Failure::work(format!("all was imported, but the counts could not be shown: {why}")),
        other => other,
    })
}

async fn import_from(
    input: Input,
    database: &Database,
    migration: Migration,
    options: Options,
) -> Result<Report, Failure> {
    let storage = match options.dry_run {
        true => database.open_for_rehearsal(migration).await?,
        false => database.open_for(migration).await?.into_admin(),
    };
    let progress = Progress::of(input.length(), if options.dry_run { "comparing" } else { "writing" });
    import::run(&*storage, input, options, &progress).await
}

pub(super) fn export(context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    block_on(async { export::run(database.open().await?.admin(), io::stdout()).await })
}

pub(super) fn migrate(arguments: &MigrateArguments, context: &Context) -> Result<(), Failure> {
    let mut database = context.database()?;
    if arguments.without_triggers {
        let without_triggers = database.without_triggers();
        database = without_triggers.map_err(|error| Failure::usage(format!("--without-triggers: {error}")))?;
    }
    let migrated = block_on(database.migrate())?;
    let done = match migrated {
        Migrated { from, to } if from == to => format!("{database}: the schema is up to date: version {to}"),
        Migrated { from: 0, to } => format!("{database}: a new database was made: schema version {to}"),
        Migrated { from, to } => format!("{database}: the schema was brought from version {from} to version {to}"),
    };
    let printed = if arguments.json { output::print_json(&migrated) } else { output::print(&done) };
    printed.map_err(|failure| failure.after(&done))
}
