//! Values that stand in a file of their own: `file:PATH` in the place of an address with a password, so that it is
//! neither in the list of processes nor in the environment.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What such a value begins with. No database and no store has such an address.
const PREFIX: &str = "file:";
/// No address is as long; a database that is named by mistake is not read to its end.
const LONGEST: u64 = 64 << 10;

/// The file that a value names, if it names one.
pub(crate) fn file_of(value: &str) -> Option<&Path> {
    value.strip_prefix(PREFIX).map(Path::new)
}

/// Those that others may read, which was said. A command may ask for a value more than once.
#[derive(Debug, Default)]
pub(super) struct Told(RefCell<BTreeSet<PathBuf>>);

/// What stands in the file, without the blanks and line feeds around it. No message repeats any of it.
pub(super) fn read(path: &Path, told: &Told) -> Result<String, String> {
    const RIGHT: &str = "write the address into it, and no more";
    let fault = |what: &str| format!("the file {} {what}", path.display());
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData => fault(&format!("is not text; {RIGHT}")),
        _ => fault(&format!("cannot be read: {error}")),
    };
    let file = File::open(path).map_err(unreadable)?;
    if others_may_read(&file) && told.0.borrow_mut().insert(path.to_owned()) {
        tracing::warn!("others may read {}; take that from them (chmod o-rwx)", path.display());
    }
    let mut text = String::new();
    let length = file.take(LONGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
    match text.trim() {
        "" => Err(fault(&format!("is empty; {RIGHT}"))),
        _ if length as u64 > LONGEST => Err(fault(&format!("is longer than an address can be; {RIGHT}"))),
        address => Ok(address.to_owned()),
    }
}

#[cfg(unix)]
fn others_may_read(file: &File) -> bool {
    use std::os::unix::fs::PermissionsExt;

    file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

/// Elsewhere who may read a file is not in its mode.
#[cfg(not(unix))]
fn others_may_read(_: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_value_may_name_a_file() {
        assert_eq!(file_of("file:/run/secret"), Some(Path::new("/run/secret")));
        assert_eq!(file_of("sqlite:file:x"), None);
    }

    #[test]
    fn the_address_is_all_that_may_stand_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "\n postgres://u:p@h/n\r\n").unwrap();
        let told = Told::default();
        assert_eq!(read(&path, &told).unwrap(), "postgres://u:p@h/n");
        for (content, piece) in
            [(&b" \n"[..], "is empty"), (b"s3cret\xff", "is not text"), (&b"s3cret".repeat(20_000), "is longer")]
        {
            fs::write(&path, content).unwrap();
            let message = read(&path, &told).unwrap_err();
            assert!(message.contains(piece) && !message.contains("s3cret"), "{message}");
        }
        assert!(read(directory.path(), &told).unwrap_err().contains("cannot be read"));
    }
}
