//! Reading what stands at a path: a file, or a pipe as `<(command)` makes one; never more of it, and never for longer,
//! than a certificate or a key can take.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

/// Many times what a chain of certificates takes up, and soon read.
const MOST_BYTES: u64 = 1024 * 1024;

/// Reads all of it.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let kind = path.metadata()?.file_type();
        if kind.is_char_device() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device; name a file"));
        }
        if kind.is_fifo() {
            return pipe::read(path, pipe::PATIENCE);
        }
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    bounded(bytes)
}

fn bounded(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > MOST_BYTES {
        let text = "it is longer than a mebibyte, which no certificate or key is; name the file with it";
        return Err(io::Error::new(ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

#[cfg(unix)]
mod pipe {
    use std::{
        fs::OpenOptions,
        io::{self, ErrorKind, Read},
        os::unix::fs::OpenOptionsExt,
        path::Path,
        time::{Duration, Instant},
    };

    use rustix::{
        event::{PollFd, PollFlags, poll},
        fs::OFlags,
        io::Errno,
    };

    use super::{MOST_BYTES, bounded};

    /// How long a pipe may say nothing: who writes to it was started along with this program.
    pub(super) const PATIENCE: Duration = Duration::from_secs(10);

    /// Reads a pipe to its end, for `patience` at most. To wait without a limit, as opening it and reading it do by
    /// themselves, would be for ever where nobody writes.
    pub(super) fn read(path: &Path, patience: Duration) -> io::Result<Vec<u8>> {
        let deadline = Instant::now() + patience;
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut pipe = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while bytes.len() as u64 <= MOST_BYTES {
            match pipe.read(&mut chunk) {
                // Without a writer a pipe is at its end, also before the first writer has come.
                Ok(0) if !bytes.is_empty() => break,
                Ok(read @ 1..) => {
                    bytes.extend_from_slice(&chunk[..read]);
                    continue;
                }
                Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Err(error);
                }
                Ok(0) | Err(_) => {}
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            let mut awaited = [PollFd::new(&pipe, PollFlags::IN)];
            match poll(&mut awaited, Some(&rest.try_into().map_err(io::Error::other)?)) {
                Ok(0) => {
                    let text = "it is a pipe, and its end did not come in time; let something write to it, and end";
                    return Err(io::Error::new(ErrorKind::TimedOut, text));
                }
                // The writers have gone, and what they wrote was read.
                Ok(_) if !awaited[0].revents().contains(PollFlags::IN) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bounded(bytes)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs, io::Write, os::fd::AsRawFd, path::PathBuf, process::Command, thread, time::Duration};

    use super::*;

    fn fifo(directory: &tempfile::TempDir) -> PathBuf {
        let path = directory.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn devices_and_what_is_far_too_long_are_refused() {
        for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
            let error = read(Path::new(device)).unwrap_err();
            assert_eq!((error.kind(), error.to_string().contains("is a device")), (ErrorKind::InvalidInput, true));
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("long");
        fs::write(&path, vec![b'a'; MOST_BYTES as usize]).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, MOST_BYTES);
        fs::write(&path, vec![b'a'; MOST_BYTES as usize + 1]).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn what_a_command_writes_into_a_pipe_is_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        writer.write_all(b"written before").unwrap();
        drop(writer);
        assert_eq!(read(&path).unwrap(), b"written before");

        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        let write = thread::spawn(move || writer.write_all(&[b'a'; 100_000]));
        assert_eq!(read(&path).unwrap(), [b'a'; 100_000]);
        write.join().unwrap().unwrap();
    }

    #[test]
    fn a_named_pipe_is_read_once_somebody_writes() {
        let directory = tempfile::tempdir().unwrap();
        let path = fifo(&directory);
        let from = path.clone();
        let write = thread::spawn(move || fs::write(from, "late"));
        assert_eq!(read(&path).unwrap(), b"late");
        write.join().unwrap().unwrap();
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_or_ends_is_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = fifo(&directory);
        let given_up = |path: &Path| pipe::read(path, Duration::ZERO).unwrap_err().kind();
        assert_eq!(given_up(&path), ErrorKind::TimedOut);
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"no end").unwrap();
        assert_eq!(given_up(Path::new(&format!("/dev/fd/{}", reader.as_raw_fd()))), ErrorKind::TimedOut);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_pipe_without_an_end_is_given_up_once_it_is_too_long() {
        let (reader, mut writer) = io::pipe().unwrap();
        let write = thread::spawn(move || while writer.write_all(&[b'a'; 4096]).is_ok() {});
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
        drop(reader);
        write.join().unwrap();
    }
}
