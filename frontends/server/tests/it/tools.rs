//! Installation of tools, once for all tests, and their execution.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use crate::skip::or_skip_unless;

/// Returns a directory below the target directory, which `install` fills once per change of a manifest.
/// Concurrent calls wait.
pub(crate) fn installed(
    name: &str,
    manifests: &[(&str, &str)],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let (folder, done) = (parent.join(name), parent.join(format!("{name}.installed")));
    fs::create_dir_all(&parent).unwrap();
    let lock = File::create(parent.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let fingerprint: String = manifests.iter().map(|(file, text)| format!("{file}\n{text}\n")).collect();
    if fs::read_to_string(&done).is_ok_and(|found| found == fingerprint) {
        return Ok(folder);
    }
    let _ = fs::remove_file(&done);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in manifests {
        fs::write(folder.join(file), text).unwrap();
    }
    install(&folder)?;
    fs::write(&done, fingerprint).unwrap();
    Ok(folder)
}

/// Returns a directory with the npm packages that `manifests` name.
pub(crate) fn npm_packages(name: &str, manifests: &[(&str, &str)]) -> Result<PathBuf, String> {
    installed(name, manifests, |folder| {
        output_of(Command::new("node").arg("--version"))?;
        let flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1"];
        output_of(Command::new("npm").arg("ci").args(flags).current_dir(folder)).map(|_| ())
    })
}

/// Runs a command to its end and returns its standard output, or an error with all its output.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{program} cannot be run: {error}"))?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() { Ok(out) } else { Err(format!("{program} failed: {err}{out}")) }
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    output_of(command).unwrap_or_else(|reason| panic!("{reason}"))
}
