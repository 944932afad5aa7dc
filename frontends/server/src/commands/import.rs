//! `catalogue import`

use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::time::Instant;

use catalogue_transfer::{Counts, ImportError, Input, Options, PreparedImport, Report, SCHEMA};
use indicatif::ProgressBar;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::signals::Signals;
use super::{Context, block_on, progress};
use crate::cli::ImportArguments;
use crate::database::{Database, Migration};
use crate::exit::{Failure, chain};
use crate::output;
use crate::text::printable;

pub(super) fn run(arguments: &ImportArguments, context: &Context) -> Result<(), Failure> {
    let Some(file) = &arguments.file else { return output::print(SCHEMA) };
    let began = Instant::now();
    let migration = context.settings.migration();
    let database = context.require_own_courses("import")?;
    // The input is opened before the database, so that a mistyped name does not leave a new database behind.
    let (input, name) = open(file)?;
    let options = Options { prune: arguments.prune, dry_run: arguments.dry_run, all_names: arguments.json };
    let report = block_on(async {
        let mut signals = Signals::catch_with_hangup()?;
        let bar = progress::begin("reading", input.length());
        let prepared = tokio::select! {
            biased;
            status = signals.next() => Err(Failure::interrupted(status, "nothing was imported")),
            prepared = prepare(input, &name, &database, migration, options, &bar) => prepared,
        };
        bar.finish_and_clear();
        // From here on signals are ignored: the outcome must be known.
        prepared?.finish().await.map_err(|error| failure(&name, &error))
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let printed = if arguments.json {
        let seconds = (seconds * 1_000.0).round() / 1_000.0;
        let mut summary = json!(report);
        summary["database"] = database.to_string().into();
        summary["seconds"] = seconds.into();
        output::print_json(&summary)
    } else {
        output::print(&summarize(&report, &name, &database, seconds))
    };
    printed.map_err(|failure| failure.after(if options.dry_run { "nothing was changed" } else { "all was imported" }))
}

/// Opens the file at `path`, or standard input for `-`. Returns the input and its name in messages.
fn open(path: &Path) -> Result<(Input, String), Failure> {
    if path == Path::new("-") {
        return Ok((Input::stream(io::stdin()), "standard input".to_owned()));
    }
    let name = path.display().to_string();
    const HINT: &str = "pass a JSON Lines file, or - for standard input";
    let unreadable = |error: io::Error| Failure::work(format!("cannot read {name}: {error}; {HINT}"));
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(Failure::work(format!("{name} is a directory; {HINT}")));
    }
    Ok((Input::file(file), name))
}

async fn prepare(
    input: Input,
    name: &str,
    database: &Database,
    migration: Migration,
    options: Options,
    bar: &ProgressBar,
) -> Result<PreparedImport, Failure> {
    // A missing database is created only for valid input: other processes may open it, so it could not be removed again.
    let is_missing = database.is_missing();
    let mut storage = match options.dry_run || is_missing {
        true => database.open_for_rehearsal(migration).await?,
        false => database.open_for(migration).await?.into_admin(),
    };
    let progress_bar = bar.clone();
    let input = input.with_watcher(move |bytes| progress_bar.inc(bytes));
    // On a blocking thread, because the input may be a pipe without a writer.
    let checked = spawn_blocking(|| input.check()).await;
    let checked = checked.unwrap_or_else(|error| resume_unwind(error.into_panic()));
    let checked = checked.map_err(|error| failure(name, &error))?;
    if is_missing && !options.dry_run {
        storage = database.open_for(migration).await?.into_admin();
    }
    progress::begin_again(bar, if options.dry_run { "comparing" } else { "writing" }, checked.length());
    checked.prepare(&*storage, options).await.map_err(|error| failure(name, &error))
}

/// Converts the error of an import from the input `name`.
pub(super) fn failure(name: &str, error: &ImportError) -> Failure {
    let (errors, stopped) = match error {
        ImportError::Input { errors, stopped } => (errors, stopped),
        // An import is idempotent: to repeat one that succeeded changes nothing.
        ImportError::Storage(error) => {
            return Failure::change_failed(error, "all was imported", "repeat the import, which is harmless");
        }
        other => return Failure::work(chain(other)),
    };
    let lines: Vec<_> = errors.iter().map(|error| format!("{name}: {error}")).collect();
    let heading = match &*lines {
        [line] => return Failure::work(line),
        _ if *stopped => format!("{name}: found {} errors, then stopped checking", lines.len()),
        _ => format!("{name}: found {} errors", lines.len()),
    };
    let heading = format!("{heading}; nothing was imported:");
    Failure::multiline(1, [&*heading].into_iter().chain(lines.iter().map(|line| &**line)))
}

/// Returns the summary of an import.
fn summarize(report: &Report, input: &str, database: &Database, seconds: f64) -> String {
    let heading = if [report.accounts, report.courses] == [Counts::default(); 2] {
        format!("{input} contains no accounts and no courses: nothing was imported into {database}")
    } else if !report.dry_run {
        format!("imported into {database} in {seconds:.1} s:")
    } else if report.accounts.has_changes() || report.courses.has_changes() {
        format!("dry run on {database} in {seconds:.1} s, nothing was changed; this would change:")
    } else {
        format!("dry run on {database} in {seconds:.1} s: nothing would change")
    };
    let report = report.to_string();
    [&*heading].into_iter().chain(report.lines()).map(|line| format!("{}\n", printable(line))).collect()
}
