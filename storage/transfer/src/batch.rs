//! [`Batch`]: lines of an input that are put into a storage together.

use std::mem::take;

use catalogue_core::admin::{Account, Change, Import, Record};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::error::LineErrors;
use crate::line::Line;
use crate::line_error::field_error;
use crate::report::Report;

/// Maximum number of lines in a batch. With [`MAX_BYTES`] of input, it bounds the memory for a batch, unless a single line is
/// longer. Over a network, an import waits for the storage per batch instead of per line.
const MAX_LINES: usize = 1_000;
const MAX_BYTES: u64 = 1 << 20;

/// Lines with their numbers, each valid by itself, that are not in the storage yet.
#[derive(Default)]
pub(crate) struct Batch {
    lines: Vec<(u64, Line)>,
    /// Offset in the input's text at which the batch begins, in bytes of UTF-8.
    start: u64,
}

impl Batch {
    /// Adds a line that ends at offset `end` of the input's text. Returns whether the batch is full.
    pub(crate) fn push(&mut self, number: u64, line: Line, end: u64) -> bool {
        self.lines.push((number, line));
        let is_full = self.lines.len() == MAX_LINES || end - self.start >= MAX_BYTES;
        if is_full {
            self.start = end;
        }
        is_full
    }

    /// Moves all lines of the batch into the import, and records their changes and errors.
    pub(crate) async fn flush(
        &mut self,
        import: &mut dyn Import,
        now: Timestamp,
        report: &mut Report,
        errors: &mut LineErrors,
    ) -> Result<(), StorageError> {
        let lines = take(&mut self.lines);
        if lines.is_empty() {
            return Ok(());
        }
        let undated: Vec<(AccountId, &str)> = lines.iter().filter_map(|(_, line)| undated(line)).collect();
        let mut times =
            if undated.is_empty() { Vec::new() } else { import.creation_times(&undated).await? }.into_iter();
        let (numbers, records): (Vec<u64>, Vec<Record>) = lines
            .into_iter()
            .map(|(number, line)| (number, to_record(line, || times.next().flatten().unwrap_or(now))))
            .unzip();
        let outcomes = import.put_all(&records).await?;
        for ((number, record), outcome) in numbers.into_iter().zip(&records).zip(outcomes) {
            if let Some(error) = record_change(record, outcome, report)? {
                errors.add(number, error);
            }
        }
        Ok(())
    }
}

/// Returns the account and slug of a course whose line has no creation time.
fn undated(line: &Line) -> Option<(AccountId, &str)> {
    match line {
        Line::Course(line) if line.created_at.is_none() => Some((AccountId::new(&*line.account), &line.slug)),
        _ => None,
    }
}

fn to_record(line: Line, created_at: impl FnOnce() -> Timestamp) -> Record {
    match line {
        Line::Account(line) => {
            Record::Account(Account { id: AccountId::new(line.id), name: line.name, email: line.email })
        }
        Line::Course(line) => {
            let created_at = line.created_at.unwrap_or_else(created_at);
            Record::Course(line.into_course(created_at))
        }
    }
}

/// Adds the change of a record to the report, or returns what is wrong with its line.
fn record_change(
    record: &Record,
    outcome: Result<Change, StorageError>,
    report: &mut Report,
) -> Result<Option<String>, StorageError> {
    match (record, outcome) {
        (Record::Account(account), Ok(Change::Repeated)) => {
            return Ok(Some(repeated("id", &format!("account {:?}", account.id))));
        }
        (Record::Course(course), Ok(Change::Repeated)) => {
            return Ok(Some(repeated("slug", &format!("course {:?} of {:?}", course.slug, course.account))));
        }
        (Record::Account(account), Ok(change)) => report.record(change, &account.id, None),
        (Record::Course(course), Ok(change)) => report.record(change, &course.account, Some(&course.slug)),
        (Record::Course(course), Err(error)) if error.kind() == StorageErrorKind::UnknownReference => {
            let hint = "put its line before its courses";
            return Ok(Some(field_error("account", &format!("no account {:?}; {hint}", course.account))));
        }
        (_, Err(error)) => return Err(error),
    }
    Ok(None)
}

fn repeated(field: &str, message: &str) -> String {
    field_error(field, &format!("{message} is already on an earlier line"))
}
