//! Installation of tools, once for all tests, and their execution.

use std::fs::{self, File};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum length of a printed reason for skipping a test; package managers print long errors.
const MAX_REASON: usize = 300;

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

/// Returns the value of `ready`. If `ready` is an error, prints the error and returns `None`.
/// Panics instead if the tools are required.
pub(crate) fn or_skip<T>(ready: Result<T, String>) -> Option<T> {
    or_skip_unless("clients", ready)
}

/// Like [`or_skip`], for tools that `CATALOGUE_TEST_REQUIRE` names by `word`.
pub(crate) fn or_skip_unless<T>(word: &str, ready: Result<T, String>) -> Option<T> {
    let reason = match ready {
        Ok(ready) => return Some(ready),
        Err(reason) => reason,
    };
    let required = std::env::var("CATALOGUE_TEST_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == word), "{word} is required: {reason}");
    // Written directly: the test runner captures other output.
    let line: String = reason.split_whitespace().flat_map(|word| [" ", word]).collect();
    let line: String = line.chars().take(MAX_REASON).collect();
    stderr().write_all(format!("skipped: {word}:{line}\n").as_bytes()).unwrap();
    None
}
