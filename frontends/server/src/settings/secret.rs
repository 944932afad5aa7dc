//! Secrets in files: with `file:PATH` as the value, neither the process list nor the environment contains the secret.

use std::path::Path;

use crate::permissions;

/// Prefix of a value that names a file. No address of a database or a store begins with it.
const PREFIX: &str = "file:";
/// Maximum length of the file in bytes; every address or secret is shorter.
const MAX_SECRET_BYTES: usize = 64 << 10;

/// Returns the file that a value names, if it names one.
pub(crate) fn file_of(value: &str) -> Option<&Path> {
    value.strip_prefix(PREFIX).map(Path::new)
}

/// Reads the content of the file, without surrounding whitespace. Messages repeat none of it.
pub(super) fn read(path: &Path) -> Result<String, String> {
    const HINT: &str = "it must contain the value and nothing else";
    let file = path.display();
    if permissions::mode(path).is_some_and(|mode| mode & 0o004 != 0) {
        tracing::warn!("{file} is readable by other users; run chmod o-rwx");
    }
    let bytes = catalogue_hyper::read_short_file(path).map_err(|error| format!("cannot read {file}: {error}"))?;
    let text = str::from_utf8(&bytes).map_err(|_| format!("{file} is not UTF-8; {HINT}"))?;
    match text.trim() {
        "" => Err(format!("{file} is empty; {HINT}")),
        _ if text.len() > MAX_SECRET_BYTES => Err(format!("{file} is too long; {HINT}")),
        address => Ok(address.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn value_may_name_file() {
        assert_eq!(file_of("file:/run/secret"), Some(Path::new("/run/secret")));
        assert_eq!(file_of("sqlite:file:x"), None);
    }

    #[test]
    fn file_must_contain_only_the_secret() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "\n postgres://u:p@h/n\r\n").unwrap();
        assert_eq!(read(&path).unwrap(), "postgres://u:p@h/n");
        for (content, piece) in
            [(&b" \n"[..], "is empty"), (b"s3cret\xff", "is not UTF-8"), (&b"s3cret".repeat(20_000), "is too long")]
        {
            fs::write(&path, content).unwrap();
            let message = read(&path).unwrap_err();
            assert!(
                message.contains(piece) && !message.contains("s3cret") && !message.contains("address"),
                "{message}"
            );
        }
        assert!(read(directory.path()).unwrap_err().contains("cannot read "));
    }

    /// A device may be endless, so it is refused; a pipe is read to its end.
    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_refused_and_pipes_are_read() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;

        assert!(read(Path::new("/dev/zero")).unwrap_err().contains("is a device"));
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"sqlite:a.db\n").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path)).unwrap(), "sqlite:a.db");
    }
}
