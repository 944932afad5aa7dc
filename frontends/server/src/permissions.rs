//! Whether others on this machine can read what is secret.

use std::path::Path;

use crate::report::Report;

const CHECK: &str = "permissions";

/// What the mode of a file or directory allows; `None` where it is missing, which is said where it is missed.
#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;

    Some(path.metadata().ok()?.permissions().mode() & 0o7777)
}

/// Elsewhere who may read a file is not in its mode.
#[cfg(not(unix))]
pub(crate) fn mode(_: &Path) -> Option<u32> {
    None
}

/// One file that should be secret.
pub(crate) fn look_at(file: &Path, report: &mut Report) {
    let (Some(mode), name) = (mode(file), file.display()) else { return };
    if mode & 0o002 != 0 {
        report.fault(CHECK, format!("everybody may write {name} (mode {mode:03o}); chmod o-rwx {name}"));
    } else if mode & 0o004 != 0 {
        report.warning(CHECK, format!("everybody may read {name} (mode {mode:03o}); chmod o-rwx {name}"));
    } else {
        report.fine(CHECK, format!("{name} is not open to others (mode {mode:03o})"));
    }
}

/// The directory of a database of SQLite, which keeps its log and its index beside it.
pub(crate) fn look_at_directory(directory: &Path, report: &mut Report) {
    if let Some(mode) = mode(directory).filter(|mode| mode & 0o002 != 0) {
        let what = format!("everybody may write into the database's directory (mode {mode:03o})");
        report.warning(CHECK, format!("{what} and put files beside it; chmod o-w {}", directory.display()));
    }
}
