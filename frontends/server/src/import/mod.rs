//! Import: JSON Lines into a storage, all of it or nothing.

mod fault;
mod line;
mod object;
mod progress;
mod reader;
mod report;

use std::io::BufRead;

use catalogue_core::{AccountId, AdminStorage, Change, Import, StorageError, StorageErrorKind, Timestamp};

use crate::exit::{Failure, chain};
use fault::Fault;
use line::Line;
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

/// Imports all of `input`, which messages call `name`.
pub(crate) async fn run(
    storage: &dyn AdminStorage,
    name: &str,
    input: impl BufRead,
    options: Options,
) -> Result<Report, Failure> {
    let mut report = Report { dry_run: options.dry_run, ..Report::default() };
    let mut lines = Lines::new(input);
    // The first line may be long in coming, and an import keeps all other writers out.
    let mut line = lines.next();
    let mut import = storage.begin_import().await.map_err(|error| Failure::because(&error))?;
    let now = Timestamp::now();
    loop {
        let outcome = match line {
            Ok(None) => break,
            Ok(Some(line)) => put(&mut *import, line, now, &mut report).await,
            Err(what) => Err(what.into()),
        };
        // The import is dropped on the way out, and with it all that it has put.
        outcome.map_err(|wrong| Failure::work(format!("{name}: line {}: {}", lines.number(), wrong.0)))?;
        line = lines.next();
    }
    if options.prune {
        report.courses.removed = import.prune().await.map_err(|error| Failure::because(&error))?;
    }
    if !options.dry_run {
        import.commit().await.map_err(|error| Failure::because(&error))?;
    }
    Ok(report)
}

/// What is wrong with a line, or with putting it.
struct Wrong(String);

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Self(what)
    }
}

impl From<StorageError> for Wrong {
    fn from(error: StorageError) -> Self {
        Self(chain(&error))
    }
}

/// Puts what stands on one line.
async fn put(import: &mut dyn Import, line: &[u8], now: Timestamp, report: &mut Report) -> Result<(), Wrong> {
    match line::parse(line)? {
        Line::Account(account) => {
            let change = import.put_account(&account).await?;
            if change == Change::Repeated {
                return Err(Fault::at("id", format!("the account {:?} has a line before this one", account.id)).into());
            }
            report.accounts.count(change);
        }
        Line::Course(line) => {
            let created_at = match line.created_at() {
                Some(time) => time,
                None => import.creation_time(line.account(), line.slug()).await?.unwrap_or(now),
            };
            let course = line.into_course(created_at);
            let change = import.put_course(&course).await.map_err(|error| match error.kind() {
                StorageErrorKind::UnknownReference => Wrong::from(unknown_account(&course.account)),
                _ => error.into(),
            })?;
            if change == Change::Repeated {
                let what = format!("the course {:?} of {:?} has a line before this one", course.slug, course.account);
                return Err(Fault::at("slug", what).into());
            }
            report.courses.count(change);
        }
    }
    Ok(())
}

fn unknown_account(account: &AccountId) -> Fault {
    Fault::at("account", format!("there is no account {account:?}; its own line must come before those of its courses"))
}

#[cfg(test)]
mod tests;
