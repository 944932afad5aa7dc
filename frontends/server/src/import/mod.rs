//! Import: JSON Lines into a storage, all of it or nothing.
//!
//! The input is read twice. The first time it may be long in coming, and nobody has to wait for it; the second time each
//! line is put, in one transaction, which on SQLite keeps all other writers out.

mod apply;
mod check;
mod fault;
mod input;
mod line;
mod object;
mod progress;
mod reader;
mod report;
mod spool;

use std::io::BufRead;

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, Import};
use catalogue_core::storage::StorageError;

use crate::exit::Failure;
use apply::put;
use check::Checked;
pub(crate) use input::Input;
pub(crate) use line::Line;
pub(crate) use progress::Progress;
use reader::Lines;
pub(crate) use report::Report;

/// How an import is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Also removes the courses that the input does not list, of the accounts that have a line of their own in it.
    pub(crate) prune: bool,
    /// Does all of it on an import that is dropped at the end.
    pub(crate) dry_run: bool,
}

/// Imports all of the input.
pub(crate) async fn run(
    storage: &dyn AdminStorage,
    input: Input,
    options: Options,
    progress: &Progress,
) -> Result<Report, Failure> {
    let Input { name, source } = input;
    let wrong = |what: String| Failure::work(format!("{name}: {what}"));
    let checked = Checked::of(source, progress).map_err(wrong)?;
    let mut lines = checked.lines(progress).map_err(wrong)?;
    let (import, report) = put_all(storage, &name, &mut lines, options).await?;
    checked.is_the_same().map_err(wrong)?;
    finish(import, report, options).await
}

/// Imports a text, which is at hand and need not be read twice.
pub(crate) async fn run_text(
    storage: &dyn AdminStorage,
    name: &str,
    text: &str,
    options: Options,
) -> Result<Report, Failure> {
    let (import, report) = put_all(storage, name, &mut Lines::new(text.as_bytes()), options).await?;
    finish(import, report, options).await
}

/// Puts each line into an import, which on the way out with a failure is dropped, and with it all that it has put.
async fn put_all(
    storage: &dyn AdminStorage,
    name: &str,
    lines: &mut Lines<'_, impl BufRead>,
    options: Options,
) -> Result<(Box<dyn Import>, Report), Failure> {
    let mut report = Report { dry_run: options.dry_run, ..Report::default() };
    let mut import = storage.begin_import().await.map_err(|error| failed(&error))?;
    let now = Timestamp::now();
    let wrong = |what: String| Failure::work(format!("{name}: {what}"));
    while let Some(line) = lines.next_parsed().map_err(wrong)? {
        let put = put(&mut *import, line, now, &mut report).await;
        put.map_err(|what| wrong(lines.at(&what)))?;
    }
    Ok((import, report))
}

async fn finish(mut import: Box<dyn Import>, mut report: Report, options: Options) -> Result<Report, Failure> {
    if options.prune {
        report.courses.removed = import.prune().await.map_err(|error| failed(&error))?;
    }
    if !options.dry_run {
        import.commit().await.map_err(|error| failed(&error))?;
    }
    Ok(report)
}

/// An import that is made twice is made once: what is there already is left alone.
fn failed(error: &StorageError) -> Failure {
    Failure::of_change(error, "it was imported", "import it again, which changes nothing where it was")
}

#[cfg(test)]
mod tests;
