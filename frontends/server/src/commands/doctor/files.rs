//! Whether others on this machine can read what is secret.

use std::path::{Path, PathBuf};

use super::report::Report;
use crate::config::{Layers, Setting};
use crate::exit::Failure;

const CHECK: &str = "permissions";

/// The files that settings name: the key of the certificate, addresses with passwords, the configuration file with one.
pub(super) fn look(layers: &Layers, report: &mut Report) -> Result<(), Failure> {
    let mut files = layers.secret_files();
    files.extend(layers.file_with_secrets().map(Path::to_owned));
    files.extend(layers.text(Setting::TlsKey, None)?.map(|key| PathBuf::from(key.value)));
    files.iter().for_each(|file| look_at(file, report));
    Ok(())
}

/// One file that should be secret. What is missing is said where it is missed.
#[cfg(unix)]
pub(super) fn look_at(file: &Path, report: &mut Report) {
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
pub(super) fn look_at_directory(directory: &Path, report: &mut Report) {
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
pub(super) fn look_at(_: &Path, _: &mut Report) {}
