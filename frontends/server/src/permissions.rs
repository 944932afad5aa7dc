//! Checks whether other users of this machine can read or change secrets, and which access this process lacks.

use std::path::Path;

use crate::report::Report;

const CHECK: &str = "permissions";

/// Returns the mode bits of a file or directory, or `None` if they cannot be read: other checks report missing files.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    Some(path.metadata().ok()?.permissions().mode() & 0o7777)
}

/// Returns `None`: on other systems, the mode does not state who may read a file.
#[cfg(not(unix))]
pub(crate) fn mode(_: &Path) -> Option<u32> {
    None
}

/// Describes the access to a database that this process lacks, if any. Another program's file (`is_theirs`) is only read.
#[cfg(unix)]
pub(crate) fn refusal(file: &Path, directory: &Path, is_theirs: bool) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Access, access};
    use rustix::io::Errno;

    if access(directory, Access::WRITE_OK) == Err(Errno::ROFS) {
        let why = "SQLite creates files next to it, but its file system is read-only";
        return Some(format!("cannot open {file:?}: {why}; mount it writable, or serve a copy with its `-wal`"));
    }
    let refused = |path: &Path, required| access(path, required) == Err(Errno::ACCESS);
    let (path, what, verb) = [
        (directory, Access::EXEC_OK, "the directory ", "entered"),
        (file, Access::READ_OK, "", "read"),
        (file, Access::WRITE_OK, "", "written"),
        (directory, Access::WRITE_OK, "the directory ", "written into"),
    ]
    .into_iter()
    .take(if is_theirs { 2 } else { 4 })
    .find_map(|(path, required, what, verb)| refused(path, required).then_some((path, what, verb)))?;
    let user = rustix::process::geteuid().as_raw();
    let owner = path.metadata().map(|found| (found.mode() & 0o7777, found.uid(), found.gid()));
    let owner = owner.map(|(mode, user, group)| format!(" (mode {mode:03o}, owner {user}:{group})"));
    Some(format!("{what}{path:?} cannot be {verb} by the user {user}{}", owner.unwrap_or_default()))
}

#[cfg(not(unix))]
pub(crate) fn refusal(_: &Path, _: &Path, _: bool) -> Option<String> {
    None
}

/// Reports the permissions of a file that should be secret.
pub(crate) fn check_file(file: &Path, report: &mut Report) {
    let (Some(mode), name) = (mode(file), file.display()) else { return };
    if mode & 0o002 != 0 {
        report.error(CHECK, format!("{name} is writable by all users (mode {mode:03o}); run chmod o-rwx {name}"));
    } else if mode & 0o004 != 0 {
        report.warning(CHECK, format!("{name} is readable by all users (mode {mode:03o}); run chmod o-rwx {name}"));
    } else {
        report.ok(CHECK, format!("{name} is not accessible to other users (mode {mode:03o})"));
    }
}

/// Reports whether others may write into the directory of an SQLite database, which contains its WAL and WAL index.
pub(crate) fn check_directory(directory: &Path, report: &mut Report) {
    if let Some(mode) = mode(directory).filter(|mode| mode & 0o002 != 0) {
        let what = format!("all users can create files next to the database (mode {mode:03o})");
        report.warning(CHECK, format!("{what}; run chmod o-w {}", directory.display()));
    }
}
