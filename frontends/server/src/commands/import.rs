//! `catalogue import`

use std::time::Instant;

use super::signals::Signals;
use super::{Context, block_on};
use crate::cli::ImportArguments;
use crate::database::{Database, Migration};
use crate::exit::Failure;
use crate::import::{self, Input, Options, Prepared, Progress, Summary};
use crate::output;

pub(super) fn run(arguments: &ImportArguments, context: &Context) -> Result<(), Failure> {
    let Some(file) = &arguments.file else { return output::print(import::SCHEMA) };
    let began = Instant::now();
    let migration = context.settings.migration();
    let database = context.needs_courses_of_ours("import")?;
    // The input is opened before the database, so that a mistyped name does not leave a new database behind.
    let input = Input::open(file)?;
    let name = input.name.clone();
    let options = Options { prune: arguments.prune, dry_run: arguments.dry_run, all_names: arguments.json };
    let report = block_on(async {
        let mut signals = Signals::catch_with_hangup()?;
        let progress = Progress::of("reading", input.length());
        let prepared = tokio::select! {
            biased;
            status = signals.next() => Err(Failure::interrupted(status, "nothing was imported")),
            prepared = prepare(input, &database, migration, options, &progress) => prepared,
        };
        progress.clear();
        // From here on no signal ends it: what was done must be known.
        prepared?.finish().await
    })?;
    let summary = Summary { report, input: name, database: database.to_string(), seconds: began.elapsed() };
    let printed = if arguments.json { output::print_json(&summary) } else { output::print(&summary.to_string()) };
    printed.map_err(|failure| match failure {
        failure if options.dry_run => failure.after("nothing was changed"),
        Failure::Work(why) => Failure::work(format!("all was imported, but the counts could not be shown: {why}")),
        other => other,
    })
}

async fn prepare(
    input: Input,
    database: &Database,
    migration: Migration,
    options: Options,
    progress: &Progress,
) -> Result<Prepared, Failure> {
    // A missing one is made only for an input that was checked: it could not be removed, since others may have opened it.
    let is_missing = database.is_missing();
    let mut storage = match options.dry_run || is_missing {
        true => database.open_for_rehearsal(migration).await?,
        false => database.open_for(migration).await?.into_admin(),
    };
    let name = input.name.clone();
    let checked = import::check(input, progress).await?;
    if is_missing && !options.dry_run {
        storage = database.open_for(migration).await?.into_admin();
    }
    import::prepare(&*storage, &name, checked, options, progress).await
}
