//! [`Spool`]: a temporary copy of a stream.

use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Unnamed file in the directory for temporary files. Only this program's user can access it. It disappears when the program
/// ends, however it ends.
pub(crate) struct Spool(BufWriter<File>);

impl Spool {
    /// Creates an empty spool.
    pub(crate) fn new() -> Result<Self, String> {
        let create = || {
            let file = tempfile::tempfile()?;
            make_private(&file)?;
            Ok(file)
        };
        create().map(Self::in_file).map_err(|error| copy_error(&error))
    }

    fn in_file(file: File) -> Self {
        Self(BufWriter::with_capacity(1 << 16, file))
    }

    /// Appends `bytes`.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.write_all(bytes).map_err(|error| copy_error(&error))
    }

    /// Writes out the buffer, and returns the file.
    pub(crate) fn finish(self) -> Result<File, String> {
        self.0.into_inner().map_err(|error| copy_error(error.error()))
    }
}

/// Restricts the file to its user: on Linux, only the umask restricts who can access a temporary file.
#[cfg(unix)]
fn make_private(file: &File) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(Permissions::from_mode(0o600))
}

/// Does nothing: on other systems the directory for temporary files belongs to the user.
#[cfg(not(unix))]
fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

fn copy_error(error: &io::Error) -> String {
    const VARIABLE: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };
    format!(
        "cannot copy the input to {}: {error}; set {VARIABLE} to a directory with enough space for it",
        env::temp_dir().display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_contains_written_bytes() {
        let mut spool = Spool::new().unwrap();
        spool.write(b"a\n").unwrap();
        let file = spool.finish().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_fails_with_hint() {
        let full = || Spool::in_file(File::options().write(true).open("/dev/full").unwrap());
        let mut long = full();
        let mut short = full();
        short.write(b"a").unwrap();
        for message in [long.write(&[b'a'; 1 << 20]).unwrap_err(), short.finish().unwrap_err()] {
            assert!(message.contains("No space left") && message.contains("set TMPDIR"), "{message}");
        }
    }
}
