//! [`put`]: a line of an input into a storage.

use catalogue_core::admin::{Account, Change, Import};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::line::{AccountLine, CourseLine, Line};
use crate::line_fault::LineFault;
use crate::report::Report;

/// Why what stood on a line was not put.
pub(crate) enum NotPut {
    /// The line is wrong.
    Wrong(LineFault),
    /// The storage has failed, and so has the import.
    Failed(StorageError),
}

impl From<StorageError> for NotPut {
    fn from(error: StorageError) -> Self {
        Self::Failed(error)
    }
}

/// Puts what stood on one line.
pub(crate) async fn put(
    import: &mut dyn Import,
    line: Line,
    now: Timestamp,
    report: &mut Report,
) -> Result<(), NotPut> {
    match line {
        Line::Account(line) => put_account(import, line, report).await,
        Line::Course(line) => put_course(import, *line, now, report).await,
    }
}

async fn put_account(import: &mut dyn Import, line: AccountLine, report: &mut Report) -> Result<(), NotPut> {
    let account = Account { id: AccountId::new(line.id), name: line.name, email: line.email };
    let change = import.put_account(&account).await?;
    if change == Change::Repeated {
        return Err(repeated("id", &format!("the account {:?}", account.id)));
    }
    report.note_account(change, &account.id);
    Ok(())
}

async fn put_course(
    import: &mut dyn Import,
    line: CourseLine,
    now: Timestamp,
    report: &mut Report,
) -> Result<(), NotPut> {
    let created_at = match line.created_at {
        Some(time) => time,
        None => {
            let found = import.creation_time(&AccountId::new(&*line.account), &line.slug).await?;
            found.unwrap_or(now)
        }
    };
    let course = line.into_course(created_at);
    let change = import.put_course(&course).await.map_err(|error| match error.kind() {
        StorageErrorKind::UnknownReference => {
            let what = "its own line must come before those of its courses";
            NotPut::Wrong(LineFault::at("account", format!("there is no account {:?}; {what}", course.account)))
        }
        _ => NotPut::Failed(error),
    })?;
    if change == Change::Repeated {
        return Err(repeated("slug", &format!("the course {:?} of {:?}", course.slug, course.account)));
    }
    report.note_course(change, &course.account, &course.slug);
    Ok(())
}

fn repeated(field: &str, what: &str) -> NotPut {
    NotPut::Wrong(LineFault::at(field, format!("{what} has a line before this one")))
}
