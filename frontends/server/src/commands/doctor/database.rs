//! Checks whether the database can be served.

use catalogue_core::Timestamp;
use catalogue_core::storage::StorageStatus;

use super::{clock, credentials, owners, views};
use crate::database::{Database, Migration, Storage};
use crate::exit::chain;
use crate::report::Report;

const CHECK: &str = "database";

pub(super) async fn look(database: &Database, migration: Migration, report: &mut Report) {
    let is_wal = database.look_at(report);
    if database.is_missing() && migration == Migration::Allowed {
        report.warning(CHECK, format!("{database} is not there; `serve` would make it, and nobody has a key for it"));
        return;
    }
    let storage = match database.open().await {
        Ok(storage) => storage,
        Err(unopened) if !unopened.views.is_empty() => return views::tell(&unopened.views, report),
        Err(unopened) => return report.fault(CHECK, unopened.failure.message()),
    };
    report.fine(CHECK, format!("{database} is there, with the schema of this program"));
    look_at_clock(&storage, report).await;
    database.look_through(is_wal, report);
    if let Some(status) = storage.admin().status().await {
        look_at_servers(&status, report);
    }
    if let Some(found) = storage.views() {
        views::look(found, report).await;
    }
    credentials::look(storage.admin(), Timestamp::now(), report).await;
    owners::look(&storage, Timestamp::now(), report).await;
}

async fn look_at_clock(storage: &Storage, report: &mut Report) {
    let before = Timestamp::now();
    match storage.clock().await {
        Some(Ok(theirs)) => {
            let [before, theirs, after] = [before, theirs, Timestamp::now()].map(Timestamp::as_microseconds);
            clock::compare(before, theirs, after, report);
        }
        Some(Err(error)) => report.fault("clock", format!("the database's cannot be read: {}", chain(&error))),
        None => {}
    }
}

fn look_at_servers(status: &StorageStatus, report: &mut Report) {
    if let Some(error) = &status.error {
        report.fault("primary", chain(error));
    }
    for fault in &status.faults {
        report.warning(CHECK, fault.clone());
    }
    for replica in &status.replicas {
        match (replica.reachable, replica.lag) {
            (true, Some(lag)) => report.fine("replica", format!("{} is at most {lag:?} behind", replica.server)),
            (true, None) => report.warning("replica", format!("{} answers; its lag is not known yet", replica.server)),
            (false, _) => report.warning("replica", format!("{} does not answer, and is not read", replica.server)),
        }
    }
}
