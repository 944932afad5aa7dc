//! Whether others on this machine can read what is secret.

use std::path::Path;

use crate::report::Report;

const CHECK: &str = "permissions";

/// One file that should be secret. What is missing is said where it is missed.
#[cfg(unix)]
pub(crate) fn look_at(file: &Path, report: &mut Report) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(metadata) = file.metadata() else { return };
    let mode = metadata.permissions().mode() & 0o777;
    let name = file.display();
    if mode & 0o002 != 0 {
        report.fault(CHECK, format!("everybody may write {name} (mode {mode:03o}); chmod o-rwx {name}"));
    } else if mode & 0o004 != 0 {
        report.warning(CHECK, format!("everybody may read {name} (mode {mode:03o}); chmod o-rwx {name}"));
    } else {
        report.fine(CHECK, format!("{name} is not open to others (mode {mode:03o})"));
    }
}

/// The directory of a database of SQLite, which keeps its log and its index beside it.
#[cfg(unix)]
pub(crate) fn look_at_directory(directory: &Path, report: &mut Report) {
    use std::os::unix::fs::PermissionsExt;

    let Ok(metadata) = directory.metadata() else { return };
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o002 != 0 {
        let what =
            format!("everybody may write into the database's directory (mode {mode:03o}) and put files beside it");
        report.warning(CHECK, format!("{what}; chmod o-w {}", directory.display()));
    }
}

/// Elsewhere who may read a file is not in its mode.
#[cfg(not(unix))]
pub(crate) fn look_at(_: &Path, _: &mut Report) {}
