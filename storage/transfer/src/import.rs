//! JSON Lines into a storage, all of it or nothing.
//!
//! The input is read twice. The first time it may be long in coming, and nobody has to wait for it; the second time each
//! line is put, in one transaction, which on SQLite keeps all other writers out.

use std::fmt;
use std::future::poll_fn;
use std::io::BufRead;
use std::mem::replace;
use std::task::Poll;

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, Import};

use crate::check::Checked;
use crate::error::{Faults, ImportError};
use crate::put::Batch;
use crate::reader::Lines;
use crate::report::Report;

/// How an import is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also removes the courses that the input does not list, of the accounts that have a line of their own in it.
    pub prune: bool,
    /// Does all of it on an import that is dropped at the end.
    pub dry_run: bool,
    /// Keeps the name of each change that the [`Report`] tells, and not only twenty of a sort, as people are shown. There
    /// may be very many.
    pub all_names: bool,
}

/// An import of all that is in an input, which is yet to be committed. Dropping it undoes it.
pub struct Prepared {
    import: Box<dyn Import>,
    report: Report,
}

impl Checked {
    /// Puts all of the input into an import. It can be dropped at any time, and then nothing has changed.
    ///
    /// # Errors
    /// When the storage fails, a line does not fit what it holds or what another line says, or the input was written to
    /// since it was checked.
    pub async fn prepare(self, storage: &dyn AdminStorage, options: Options) -> Result<Prepared, ImportError> {
        let mut lines = self.lines().map_err(ImportError::of_input)?;
        let mut faults = Faults::default();
        let prepared = put_all(storage, &mut lines, options, &mut faults).await;
        faults.finish()?;
        self.is_the_same().map_err(ImportError::of_input)?;
        prepared
    }
}

impl Prepared {
    /// Commits it, unless it is a dry run. Whoever begins this must wait for the end, to know whether it was done.
    ///
    /// # Errors
    /// When the storage cannot commit.
    pub async fn finish(self) -> Result<Report, ImportError> {
        if !self.report.dry_run {
            self.import.commit().await?;
        }
        Ok(self.report)
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Imports a text, which is at hand and need not be read twice.
///
/// # Errors
/// When the text is wrong or the storage fails. Nothing has changed then, unless the error says that the outcome is unknown.
pub async fn import_text(storage: &dyn AdminStorage, text: &str, options: Options) -> Result<Report, ImportError> {
    let mut faults = Faults::default();
    let prepared = put_all(storage, &mut Lines::new(text.as_bytes()), options, &mut faults).await;
    faults.finish()?;
    prepared?.finish().await
}

/// Puts each line into an import, and notes what is wrong with it.
async fn put_all(
    storage: &dyn AdminStorage,
    lines: &mut Lines<'_, impl BufRead>,
    options: Options,
    faults: &mut Faults,
) -> Result<Prepared, ImportError> {
    let mut report = Report::of(options);
    let mut import = storage.begin_import().await?;
    let now = Timestamp::now();
    let mut batch = Batch::default();
    while let Some(parsed) = lines.next_parsed()
        && !faults.is_full()
    {
        match parsed {
            Ok(line) => {
                if batch.push(lines.number, line, lines.length) {
                    batch.put(&mut *import, now, &mut report, faults).await?;
                }
            }
            Err(what) => {
                batch.put(&mut *import, now, &mut report, faults).await?;
                faults.add(lines.number, what);
                // It may have been the account of the next lines.
                break;
            }
        }
        // SQLite never waits, and a caller may watch for a signal.
        yield_now().await;
    }
    batch.put(&mut *import, now, &mut report, faults).await?;
    if options.prune && faults.is_empty() {
        report.note_pruned(import.prune().await?);
    }
    Ok(Prepared { import, report })
}

/// Lets whoever polls this do something else first.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
