//! Reading files, devices and pipes.

use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::Command;

use super::*;

/// Returns a path at which a pipe can be opened.
fn path_of(reader: &io::PipeReader) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()))
}

fn fifo(directory: &tempfile::TempDir) -> PathBuf {
    let path = directory.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn devices_and_too_long_files_are_refused() {
    for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
        let error = read_short_file(Path::new(device)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().contains("is a device")), (ErrorKind::InvalidInput, true));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long");
    fs::write(&path, vec![b'a'; MAX_BYTES as usize]).unwrap();
    assert_eq!(read_short_file(&path).unwrap().len() as u64, MAX_BYTES);
    fs::write(&path, vec![b'a'; MAX_BYTES as usize + 1]).unwrap();
    assert_eq!(read_short_file(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
}

#[test]
fn pipe_of_a_command_is_read() {
    let (reader, mut writer) = io::pipe().unwrap();
    let write = thread::spawn(move || writer.write_all(&[b'a'; 100_000]));
    assert_eq!(read_short_file(&path_of(&reader)).unwrap(), [b'a'; 100_000]);
    write.join().unwrap().unwrap();
}

/// Host applications may load a certificate in their asynchronous `main`.
#[tokio::test]
async fn pipe_is_read_inside_tokio_runtime() {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"written before").unwrap();
    drop(writer);
    assert_eq!(read_short_file(&path_of(&reader)).unwrap(), b"written before");
}

#[test]
fn named_pipe_is_read_when_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = fifo(&directory);
    let target = path.clone();
    let write = thread::spawn(move || fs::write(target, "late"));
    assert_eq!(read_short_file(&path).unwrap(), b"late");
    write.join().unwrap().unwrap();
}

#[test]
fn pipe_without_writer_or_end_times_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = fifo(&directory);
    let read_error = |path: &Path| read_pipe(path, Duration::ZERO).unwrap_err().kind();
    assert_eq!(read_error(&path), ErrorKind::TimedOut);
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(b"no end").unwrap();
    assert_eq!(read_error(&path_of(&reader)), ErrorKind::TimedOut);
    fs::remove_file(path).unwrap();
}

#[test]
fn endless_pipe_fails_with_file_too_large() {
    let (reader, mut writer) = io::pipe().unwrap();
    let write = thread::spawn(move || while writer.write_all(&[b'a'; 4096]).is_ok() {});
    assert_eq!(read_short_file(&path_of(&reader)).unwrap_err().kind(), ErrorKind::FileTooLarge);
    drop(reader);
    write.join().unwrap();
}
