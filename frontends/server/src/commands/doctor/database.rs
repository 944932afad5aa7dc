//! Whether the database can be served.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_postgres::PostgresStorage;
use catalogue_sqlite::{Integrity, SqliteStorage};

use super::report::Report;
use super::{clock, credentials, files};
use crate::database::{Database, Migration, Storage};
use crate::exit::chain;

/// How long a file is looked through.
const PATIENCE: Duration = Duration::from_secs(10);

const CHECK: &str = "database";

pub(super) async fn look(database: &Database, migration: Migration, report: &mut Report) {
    if let Database::File(path) = database {
        // Before SQLite has it open: see the rules of its storage on closing a file.
        look_at_file(path, report);
    }
    if database.is_missing() && migration == Migration::Allowed {
        report.warning(CHECK, format!("{database} is not there; `serve` would make it, and nobody has a key for it"));
        return;
    }
    let storage = match database.open().await {
        Ok(storage) => storage,
        Err(unopened) => return report.fault(CHECK, unopened.failure.message().to_owned()),
    };
    report.fine(CHECK, format!("{database} is there, with the schema of this program"));
    if let Storage::Postgres(storage) = &storage {
        look_at_servers(storage, report).await;
    }
    if let Database::File(path) = database {
        look_through(path, report);
    }
    credentials::look(storage.admin(), Timestamp::now(), report).await;
}

/// What can be seen from outside.
fn look_at_file(path: &Path, report: &mut Report) {
    #[cfg(unix)]
    {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        super::volume::look(directory, report);
        files::look_at_directory(directory, report);
    }
    files::look_at(path, report);
    match is_wal(path) {
        Some(true) => report.fine("journal", "the database is in WAL mode".to_owned()),
        Some(false) => {
            let what = "the database is not in WAL mode, so that readers and writers wait for each other";
            report.warning("journal", format!("{what}; an import sets it"));
        }
        None => {}
    }
}

/// By the versions of writing and of reading in the file's head; `None` where there is none.
fn is_wal(path: &Path) -> Option<bool> {
    let mut head = [0; 20];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    head.starts_with(b"SQLite format 3\0").then(|| head[18..] == [2, 2])
}

fn look_through(path: &Path, report: &mut Report) {
    const CHECK: &str = "integrity";
    match SqliteStorage::quick_check(path, PATIENCE) {
        Ok(Integrity::Damaged(what)) => {
            report.fault(CHECK, format!("the file is damaged: {what}; put a copy in its place"));
        }
        Ok(Integrity::Sound) => report.fine(CHECK, "the file is sound".to_owned()),
        Ok(_) => report.fine(CHECK, format!("what could be seen of the file in {PATIENCE:?} is sound")),
        Err(error) => report.fault(CHECK, chain(&error)),
    }
}

async fn look_at_servers(storage: &PostgresStorage, report: &mut Report) {
    let before = Timestamp::now();
    match storage.clock().await {
        Ok(theirs) => {
            let [before, theirs, after] = [before, theirs, Timestamp::now()].map(Timestamp::as_microseconds);
            clock::compare(before, theirs, after, report);
        }
        Err(error) => report.fault("clock", format!("the database's cannot be read: {}", chain(&error))),
    }
    let status = storage.status().await;
    if let Some(error) = &status.primary.error {
        report.fault("primary", chain(error));
    }
    for replica in &status.replicas {
        match (replica.reachable, replica.lag) {
            (true, Some(lag)) => report.fine("replica", format!("{} is at most {lag:?} behind", replica.server)),
            (true, None) => report.warning("replica", format!("{} answers; its lag is not known yet", replica.server)),
            (false, _) => report.warning("replica", format!("{} does not answer, and is not read", replica.server)),
        }
    }
}
