//! Whether a transaction keeps a PostgreSQL database from removing old rows, which each look-up then reads too.

use std::time::Duration;

use catalogue_postgres::{OldSnapshot, PostgresStorage};

use crate::exit::chain;
use crate::report::Report;

/// No request, import of a usual size or report takes that long.
const OLD: Duration = Duration::from_secs(5 * 60);
/// So many changes of one account make its look-up some ten times dearer.
const MANY: u32 = 20_000;

const CHECK: &str = "old rows";

pub(super) async fn look(storage: &PostgresStorage, report: &mut Report) {
    match storage.old_snapshots(OLD, MANY).await {
        Ok(snapshots) if snapshots.is_empty() => {
            report.fine(CHECK, "no transaction keeps the database from removing them");
        }
        Ok(snapshots) => {
            for snapshot in snapshots {
                report.warning(CHECK, format!("{}; end it, or look-ups get dearer", told(&snapshot)));
            }
        }
        Err(error) => report.warning(CHECK, format!("what keeps them cannot be seen: {}", chain(&error))),
    }
}

fn told(OldSnapshot { holder, age, transactions, .. }: &OldSnapshot) -> String {
    match age {
        Some(age) => format!("{holder} has had a transaction open for {} minutes", age.as_secs() / 60),
        None => format!("{holder} keeps those of the last {transactions} transactions"),
    }
}
