//! What of a file the system holds in memory, and what it had to read.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Drops a file from the system's cache, which its owner may do. What is read of it from now on comes from the disk, once.
#[cfg(target_os = "linux")]
pub(crate) fn evict(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // What was not written yet would stay.
    file.sync_all()?;
    Ok(rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Elsewhere there is no such thing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn evict(_path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Brings a file into the system's cache.
pub(crate) fn load(path: &Path) -> io::Result<()> {
    io::copy(&mut File::open(path)?, &mut io::sink()).map(drop)
}

/// How many bytes a process has had the disk read so far.
pub(crate) fn bytes_read(id: u32) -> io::Result<u64> {
    let account = fs::read_to_string(format!("/proc/{id}/io"))?;
    let bytes = account.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok());
    bytes.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc's io cannot be understood"))
}
