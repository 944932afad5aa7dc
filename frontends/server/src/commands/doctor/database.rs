//! Checks whether the database can be served.

use catalogue_core::Timestamp;
use catalogue_core::storage::StorageStatus;

use super::{clock, credentials, owners, views};
use crate::database::{Database, Migration, Storage};
use crate::exit::chain;
use crate::report::Report;

const CHECK: &str = "database";

pub(super) async fn check(database: &Database, migration: Migration, report: &mut Report) {
    let is_wal = database.check_files(report);
    if database.is_missing() && migration == Migration::Allowed {
        report.warning(CHECK, format!("{database} does not exist; `serve` would create it without any key"));
        return;
    }
    let storage = match database.open().await {
        Ok(storage) => storage,
        Err(open_failure) if !open_failure.views.is_empty() => {
            return views::report_problems(&open_failure.views, report);
        }
        Err(open_failure) => return report.error(CHECK, open_failure.failure.message()),
    };
    report.ok(CHECK, format!("{database} exists, and its schema is up to date"));
    check_clock(&storage, report).await;
    database.check_integrity(is_wal, report);
    if let Some(status) = storage.admin().status().await {
        check_servers(&status, report);
    }
    if let Some(found) = storage.views() {
        views::check(found, report).await;
    }
    credentials::check(storage.admin(), Timestamp::now(), report).await;
    owners::check(&storage, Timestamp::now(), report).await;
}

async fn check_clock(storage: &Storage, report: &mut Report) {
    let before = Timestamp::now();
    match storage.clock().await {
        Some(Ok(theirs)) => {
            let [before, theirs, after] = [before, theirs, Timestamp::now()].map(Timestamp::as_microseconds);
            clock::compare(before, theirs, after, report);
        }
        Some(Err(error)) => report.error("clock", format!("cannot read the database's clock: {}", chain(&error))),
        None => {}
    }
}

fn check_servers(status: &StorageStatus, report: &mut Report) {
    if let Some(error) = &status.error {
        report.error("primary", chain(error));
    }
    for problem in &status.problems {
        report.warning(CHECK, problem.clone());
    }
    for replica in &status.replicas {
        match (replica.reachable, replica.lag) {
            (true, Some(lag)) => report.ok("replica", format!("{} is at most {lag:?} behind", replica.server)),
            (true, None) => report.warning("replica", format!("{} responds; its lag is not known yet", replica.server)),
            (false, _) => report.warning("replica", format!("{} does not respond, and is not used", replica.server)),
        }
    }
}
