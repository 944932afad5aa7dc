//! What can be told of a database of SQLite by its file.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use catalogue_sqlite::{Integrity, SqliteStorage};

use crate::exit::chain;
use crate::permissions;
use crate::report::Report;

/// How long a file is looked through.
const PATIENCE: Duration = Duration::from_secs(10);

/// What can be seen from outside, before SQLite has it open: see the rules of its storage on closing a file.
pub(super) fn look_at(path: &Path, report: &mut Report) {
    #[cfg(unix)]
    {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        super::volume::look(directory, report);
        permissions::look_at_directory(directory, report);
    }
    permissions::look_at(path, report);
    match is_wal(path) {
        Some(true) => report.fine("journal", "the database is in WAL mode"),
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

/// Whether it is damaged.
pub(super) fn look_through(path: &Path, report: &mut Report) {
    const CHECK: &str = "integrity";
    match SqliteStorage::quick_check(path, PATIENCE) {
        Ok(Integrity::Damaged(what)) => {
            report.fault(CHECK, format!("the file is damaged: {what}; put a copy in its place"));
        }
        Ok(Integrity::Sound) => report.fine(CHECK, "the file is sound"),
        Ok(_) => report.fine(CHECK, format!("what could be seen of the file in {PATIENCE:?} is sound")),
        Err(error) => report.fault(CHECK, chain(&error)),
    }
}
