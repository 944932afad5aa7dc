//! The `-wal` and `-shm` beside another program's file: whoever opens the file first owns them, and its program must write them.

use std::path::Path;

use crate::open_error::OpenError;

/// Whether the file can be read without making files beside it that its owner may not write: its program could not write then,
/// nor after this one has ended.
#[cfg(unix)]
pub(crate) fn check(database: &Path) -> Result<(), OpenError> {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use rustix::process::{getegid, geteuid};

    use crate::wal_index::{beside, read_for_long};

    // SQLite puts them beside the file that links lead to. What is out of reach is told by who opens it.
    let Ok(path) = fs::canonicalize(database) else { return Ok(()) };
    let (Ok(file), Some(Ok(directory))) = (fs::metadata(&path), path.parent().map(fs::metadata)) else { return Ok(()) };
    let group = if directory.mode() & 0o2000 != 0 { directory.gid() } else { getegid().as_raw() };
    // They get the mode of the file, and its owner too where root makes them.
    let may_write = geteuid().is_root()
        || geteuid().as_raw() == file.uid()
        || file.mode() & 0o002 != 0
        || file.mode() & 0o020 != 0 && group == file.gid();
    let is_there = |suffix| beside(&path, suffix).exists();
    let mut head = [0; 20];
    if may_write || is_there("-wal") && is_there("-shm") || read_for_long(&path, &mut head).is_none() || head[19] != 2 {
        return Ok(());
    }
    Err(OpenError::WalOfAnotherUser { path: database.to_owned(), owner: name_of(file.uid()) })
}

/// Which of the two is there and may not be read.
#[cfg(unix)]
pub(super) fn out_of_reach(database: &Path) -> Option<OpenError> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Access, access};

    let path = std::fs::canonicalize(database).ok()?;
    let files = ["-wal", "-shm"].map(|suffix| crate::wal_index::beside(&path, suffix));
    let path = files.into_iter().find(|path| access(path, Access::READ_OK) == Err(rustix::io::Errno::ACCESS))?;
    let owner = name_of(path.metadata().ok()?.uid());
    Some(OpenError::WalOutOfReach { path, owner })
}

/// The name of a user; the number where `/etc/passwd` has none.
#[cfg(unix)]
fn name_of(user: u32) -> String {
    let (users, user) = (std::fs::read_to_string("/etc/passwd").unwrap_or_default(), user.to_string());
    let mut fields = users.lines().map(|line| line.split(':'));
    let name = fields.find_map(|mut fields| fields.next().filter(|_| fields.nth(1) == Some(&user)));
    name.unwrap_or(&user).to_owned()
}

/// Elsewhere files have no owner of their own.
#[cfg(not(unix))]
pub(crate) fn check(_: &Path) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn out_of_reach(_: &Path) -> Option<OpenError> {
    None
}
