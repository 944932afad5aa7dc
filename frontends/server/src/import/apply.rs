//! [`put`]: a line of an input into a storage.

use catalogue_core::admin::{Account, Change, Import};
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use super::fault::Fault;
use super::line::{AccountLine, CourseLine, Line};
use super::report::Report;
use crate::exit::chain;

/// Puts what stood on one line, or says what is wrong with that.
pub(super) async fn put(
    import: &mut dyn Import,
    line: Line,
    now: Timestamp,
    report: &mut Report,
) -> Result<(), String> {
    match line {
        Line::Account(line) => put_account(import, line, report).await,
        Line::Course(line) => put_course(import, *line, now, report).await,
    }
}

async fn put_account(import: &mut dyn Import, line: AccountLine, report: &mut Report) -> Result<(), String> {
    let account = Account { id: AccountId::new(line.id), name: line.name, email: line.email };
    let change = import.put_account(&account).await.map_err(|error| failed(&error))?;
    if change == Change::Repeated {
        return Err(repeated("id", &format!("the account {:?}", account.id)));
    }
    report.accounts.count(change);
    Ok(())
}

async fn put_course(
    import: &mut dyn Import,
    line: CourseLine,
    now: Timestamp,
    report: &mut Report,
) -> Result<(), String> {
    let created_at = match line.created_at {
        Some(time) => time,
        None => {
            let found = import.creation_time(&AccountId::new(&*line.account), &line.slug).await;
            found.map_err(|error| failed(&error))?.unwrap_or(now)
        }
    };
    let course = line.into_course(created_at);
    let change = import.put_course(&course).await.map_err(|error| match error.kind() {
        StorageErrorKind::UnknownReference => {
            let what = "its own line must come before those of its courses";
            Fault::at("account", format!("there is no account {:?}; {what}", course.account)).to_string()
        }
        _ => failed(&error),
    })?;
    if change == Change::Repeated {
        return Err(repeated("slug", &format!("the course {:?} of {:?}", course.slug, course.account)));
    }
    report.courses.count(change);
    Ok(())
}

fn failed(error: &StorageError) -> String {
    format!("nothing was changed: {}", chain(error))
}

fn repeated(field: &str, what: &str) -> String {
    Fault::at(field, format!("{what} has a line before this one")).to_string()
}
