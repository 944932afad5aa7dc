//! Imports JSON Lines into a storage, all or nothing.
//!
//! An `Input` is read twice; a stream is copied, and its copy is read again. The first pass checks it, which may take long but
//! blocks no writer. The second pass puts all lines into the storage in one transaction, which on SQLite blocks other writers.

use std::fmt;
use std::future::poll_fn;
use std::io::BufRead;
use std::mem::replace;
use std::task::Poll;

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, Import};

use crate::batch::Batch;
use crate::check::CheckedInput;
use crate::error::{ImportError, LineErrors};
use crate::reader::Lines;
use crate::report::Report;

/// Options of an import.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether to remove courses that the input does not list, from the accounts that have a line in it.
    pub prune: bool,
    /// Whether to run the import without committing it.
    pub dry_run: bool,
    /// Whether the number of names in the [`Report`] is unlimited, instead of at most 20 per kind of change.
    pub all_names: bool,
}

/// An import of a whole input, to be committed. Dropping it rolls it back.
pub struct PreparedImport {
    import: Box<dyn Import>,
    report: Report,
}

impl CheckedInput {
    /// Puts all lines into an import, without committing it. If the call or its result is dropped, nothing has changed.
    ///
    /// # Errors
    /// Returns an error if the storage fails, or a line conflicts with the storage's content or another line. Also if the input
    /// cannot be read again, or was written to since it was checked.
    pub async fn prepare(self, storage: &dyn AdminStorage, options: Options) -> Result<PreparedImport, ImportError> {
        let mut lines = self.lines().map_err(ImportError::from_input)?;
        let mut errors = LineErrors::default();
        let prepared = put_all(storage, &mut lines, options, &mut errors).await;
        errors.finish()?;
        self.check_unchanged().map_err(ImportError::from_input)?;
        prepared
    }
}

impl PreparedImport {
    /// Commits the import, unless it is a dry run. If the call is dropped before its end, the outcome is unknown.
    ///
    /// # Errors
    /// Returns an error if the storage cannot commit.
    pub async fn finish(self) -> Result<Report, ImportError> {
        if !self.report.dry_run {
            self.import.commit().await?;
        }
        Ok(self.report)
    }
}

impl fmt::Debug for PreparedImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedImport").field("report", &self.report).finish_non_exhaustive()
    }
}

/// Imports a text in memory. Reads it only once, since reading it cannot take long.
///
/// # Errors
/// Returns an error if the text is invalid or the storage fails. Nothing has changed then, unless the kind is `OutcomeUnknown`.
pub async fn import_text(storage: &dyn AdminStorage, text: &str, options: Options) -> Result<Report, ImportError> {
    let mut errors = LineErrors::default();
    let prepared = put_all(storage, &mut Lines::new(text.as_bytes()), options, &mut errors).await;
    errors.finish()?;
    prepared?.finish().await
}

/// Puts each line into an import, and records the errors.
async fn put_all(
    storage: &dyn AdminStorage,
    lines: &mut Lines<'_, impl BufRead>,
    options: Options,
    errors: &mut LineErrors,
) -> Result<PreparedImport, ImportError> {
    let mut report = Report::of(options);
    let mut import = storage.begin_import().await?;
    let now = Timestamp::now();
    let mut batch = Batch::default();
    while let Some(parsed) = lines.next_parsed()
        && !errors.is_full()
    {
        match parsed {
            Ok(line) => {
                if batch.push(lines.number, line, lines.bytes_read) {
                    batch.flush(&mut *import, now, &mut report, errors).await?;
                }
            }
            Err(message) => {
                batch.flush(&mut *import, now, &mut report, errors).await?;
                errors.add(lines.number, message);
                // The next lines may depend on the invalid one, which may have been their account.
                break;
            }
        }
        // Imports into SQLite are never pending, so a caller can react to a signal only here.
        yield_now().await;
    }
    batch.flush(&mut *import, now, &mut report, errors).await?;
    if options.prune && errors.is_empty() {
        report.record_pruned(import.prune().await?);
    }
    Ok(PreparedImport { import, report })
}

/// Yields to the executor once.
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
