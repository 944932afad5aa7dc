//! Import: JSON Lines into a storage, all of it or nothing.
//!
//! The input is read twice. The first time it may be long in coming, and nobody has to wait for it; the second time each
//! line is put, in one transaction, which on SQLite keeps all other writers out.

mod apply;
mod check;
mod fault;
mod faults;
mod input;
mod line;
mod object;
mod progress;
mod reader;
mod report;
mod spool;

use std::io::BufRead;
use std::panic::resume_unwind;

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, Import};
use catalogue_core::storage::StorageError;
use tokio::task::{spawn_blocking, yield_now};

use crate::exit::Failure;
use apply::{NotPut, put};
pub(crate) use check::Checked;
use faults::Faults;
pub(crate) use input::Input;
pub(crate) use line::Line;
pub(crate) use progress::Progress;
use reader::Lines;
pub(crate) use report::{Report, Summary};

/// A line of the format, as a JSON Schema of the draft 2020-12.
pub(crate) const SCHEMA: &str = include_str!("schema.json");

/// How an import is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Also removes the courses that the input does not list, of the accounts that have a line of their own in it.
    pub(crate) prune: bool,
    /// Does all of it on an import that is dropped at the end.
    pub(crate) dry_run: bool,
    /// Keeps the name of each change that is told, and not only as many as are shown to people.
    pub(crate) all_names: bool,
}

/// An import of all that is in an input, which is yet to be committed. Dropping it undoes it.
pub(crate) struct Prepared {
    import: Box<dyn Import>,
    report: Report,
}

/// Reads all of the input. No database is needed for that.
pub(crate) async fn check(input: Input, progress: &Progress) -> Result<Checked, Failure> {
    let Input { name, source } = input;
    // On a thread of its own, since the input may be a pipe that nobody writes to.
    let shown = progress.clone();
    let reading = spawn_blocking(move || {
        let mut faults = Faults::default();
        (Checked::of(source, &shown, &mut faults), faults)
    });
    let (checked, faults) = reading.await.unwrap_or_else(|error| resume_unwind(error.into_panic()));
    // A doomed import keeps no writer out.
    faults.finish(&name)?;
    Ok(checked.expect("there is no fault"))
}

/// Puts all of the input into an import. It can be dropped at any time, and then nothing has changed.
pub(crate) async fn prepare(
    storage: &dyn AdminStorage,
    name: &str,
    checked: Checked,
    options: Options,
    progress: &Progress,
) -> Result<Prepared, Failure> {
    let wrong = |what: String| Failure::work(format!("{name}: {what}"));
    let mut lines = checked.lines(if options.dry_run { "comparing" } else { "writing" }, progress).map_err(wrong)?;
    let mut faults = Faults::default();
    let prepared = put_all(storage, &mut lines, options, &mut faults).await;
    faults.finish(name)?;
    checked.is_the_same().map_err(wrong)?;
    prepared
}

/// Imports a text, which is at hand and need not be read twice.
pub(crate) async fn run_text(
    storage: &dyn AdminStorage,
    name: &str,
    text: &str,
    options: Options,
) -> Result<Report, Failure> {
    let mut faults = Faults::default();
    let prepared = put_all(storage, &mut Lines::new(text.as_bytes()), options, &mut faults).await;
    faults.finish(name)?;
    prepared?.finish().await
}

/// Puts each line into an import, and notes what is wrong with it.
async fn put_all(
    storage: &dyn AdminStorage,
    lines: &mut Lines<'_, impl BufRead>,
    options: Options,
    faults: &mut Faults,
) -> Result<Prepared, Failure> {
    let mut report = Report::of(options);
    let mut import = storage.begin_import().await.map_err(|error| failed(&error))?;
    let now = Timestamp::now();
    while let Some(parsed) = lines.next_parsed()
        && !faults.is_full()
    {
        match parsed {
            Ok(line) => match put(&mut *import, line, now, &mut report).await {
                Ok(()) => {}
                Err(NotPut::Wrong(fault)) => faults.add(lines.number, fault.to_string()),
                Err(NotPut::Failed(error)) => return Err(failed(&error)),
            },
            Err(what) => {
                faults.add(lines.number, what);
                // It may have been the account of the next lines.
                break;
            }
        }
        // SQLite never waits, and a signal is to be noticed.
        yield_now().await;
    }
    if options.prune && faults.is_empty() {
        report.note_pruned(import.prune().await.map_err(|error| failed(&error))?);
    }
    Ok(Prepared { import, report })
}

impl Prepared {
    /// Commits it, unless it is a dry run. Whoever begins this must wait for the end, to know whether it was done.
    pub(crate) async fn finish(self) -> Result<Report, Failure> {
        if !self.report.dry_run {
            self.import.commit().await.map_err(|error| failed(&error))?;
        }
        Ok(self.report)
    }
}

/// An import that is made twice is made once: what is there already is left alone.
fn failed(error: &StorageError) -> Failure {
    Failure::of_change(error, "it was imported", "import it again, which changes nothing where it was")
}

#[cfg(test)]
mod tests;
