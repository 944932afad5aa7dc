//! Checks of an SQLite database's file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalogue_sqlite::{Integrity, OpenError, SqliteStorage};
#[cfg(target_os = "linux")]
use rustix::fs::statfs;
#[cfg(unix)]
use rustix::fs::statvfs;

use super::OpenFailure;
use crate::exit::{Failure, chain};
use crate::permissions;
use crate::report::Report;

/// Timeout for the integrity check.
const QUICK_CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks the file before SQLite opens it: closing it later would release SQLite's locks. Returns whether it is in WAL mode.
pub(super) fn check_files(path: &Path, report: &mut Report) -> Option<bool> {
    let directory = directory(path);
    #[cfg(unix)]
    check_volume(directory, report);
    permissions::check_directory(directory, report);
    permissions::check_file(path, report);
    is_wal(path)
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Reports whether reads of another program's file wait for its writes.
pub(super) fn check_courses_file(path: &Path, report: &mut Report) {
    let Some(is_wal) = is_wal(path) else { return };
    if is_wal {
        report.ok("journal", format!("{} is in WAL mode", path.display()));
    } else {
        let what = "reads wait for the program's writes; run in the database: PRAGMA journal_mode = wal;";
        report.warning("journal", format!("{} is not in WAL mode, so {what}", path.display()));
    }
}

/// Returns whether the file's header has the write and read versions of WAL mode; `None` without a header.
fn is_wal(path: &Path) -> Option<bool> {
    let mut head = [0; 20];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    head.starts_with(b"SQLite format 3\0").then(|| head[18..] == [2, 2])
}

/// Converts an error, which the permissions of the file or its directory may explain.
pub(super) fn describe_failure(error: OpenError, courses: Option<&PathBuf>) -> OpenFailure {
    // The other program's file is never created, so the usual hint to create it would be wrong.
    if let OpenError::Missing(path) | OpenError::MissingDirectory(path) = &error
        && courses == Some(path)
    {
        let what = format!("no database with the views at {path:?}; correct its address");
        return OpenFailure { failure: Failure::work(what), ..error.into() };
    }
    let (OpenError::Failed { path, .. } | OpenError::ReadOnly(path)) = &error else { return error.into() };
    let is_theirs = courses == Some(path) && matches!(error, OpenError::Failed { .. });
    match permissions::refusal(path, directory(path), is_theirs) {
        Some(why) => OpenFailure { failure: Failure::work(why), ..error.into() },
        None => error.into(),
    }
}

/// Reports whether the file is damaged, and whether readers and writers block each other.
pub(super) fn check_integrity(path: &Path, is_wal: Option<bool>, report: &mut Report) {
    const CHECK: &str = "integrity";
    match is_wal {
        Some(true) => report.ok("journal", "the database is in WAL mode"),
        Some(false) => {
            let what = "the database is not in WAL mode, so reads and writes wait for each other";
            report.warning("journal", format!("{what}; an import enables it"));
        }
        None => {}
    }
    match SqliteStorage::quick_check(path, QUICK_CHECK_TIMEOUT) {
        Ok(Integrity::Damaged(what)) => {
            report.error(CHECK, format!("the database is corrupt: {what}; restore a backup"));
        }
        Ok(Integrity::Ok) => report.ok(CHECK, "no corruption found"),
        Ok(_) => report.ok(CHECK, format!("no corruption found in {QUICK_CHECK_TIMEOUT:?} (check incomplete)")),
        Err(error) => report.error(CHECK, chain(&error)),
    }
}

/// Minimum free space in bytes: less is too little for an import and its WAL.
#[cfg(unix)]
const MIN_FREE_SPACE: u64 = 256 << 20;

/// Network file systems, by the numbers of Linux's `statfs(2)`. SQLite's shared memory needs a single machine.
#[cfg(target_os = "linux")]
const NETWORK: [(u64, &str); 7] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
];

#[cfg(unix)]
fn check_volume(directory: &Path, report: &mut Report) {
    match statvfs(directory) {
        Ok(volume) => {
            let free = volume.f_bavail.saturating_mul(volume.f_frsize);
            let text = format!("{} MiB are free in {}", free >> 20, directory.display());
            if free < MIN_FREE_SPACE {
                report.error("disk space", format!("{text}; free some space"));
            } else {
                report.ok("disk space", text);
            }
        }
        Err(error) => report.error("disk space", format!("cannot check {}: {error}", directory.display())),
    }
    #[cfg(target_os = "linux")]
    if let Ok(kind) = statfs(directory).map(|volume| u64::from(volume.f_type as u32))
        && let Some((_, name)) = NETWORK.iter().find(|(number, _)| *number == kind)
    {
        let text = format!("{} is on {name}, and SQLite's locks hold only within one machine", directory.display());
        report.warning("file system", format!("{text}; use a local disk, or PostgreSQL"));
    }
}
