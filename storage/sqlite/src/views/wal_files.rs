//! Checks the `-wal` and `-shm` next to another program's file, which that program must be able to write.

use std::path::Path;

use crate::open_error::OpenError;

/// Fails if reading the file would create a `-wal` and `-shm`, owned by this user, that the file's owner could not write. Then
/// the owner's program could not write to the database, even after this process has ended.
#[cfg(unix)]
pub(crate) fn check(database: &Path) -> Result<(), OpenError> {
    check_for(database, rustix::process::geteuid(), rustix::process::getegid())
}

/// Like [`check`], for the given user and group.
#[cfg(unix)]
fn check_for(database: &Path, user: rustix::fs::Uid, group: rustix::fs::Gid) -> Result<(), OpenError> {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use crate::wal_index::{read_start, sibling_path};

    // SQLite creates the files next to the target of links. A database that is out of reach is reported when it is opened.
    let Ok(path) = fs::canonicalize(database) else { return Ok(()) };
    let (Ok(file), Some(Ok(directory))) = (fs::metadata(&path), path.parent().map(fs::metadata)) else { return Ok(()) };
    let group = if directory.mode() & 0o2000 != 0 { directory.gid() } else { group.as_raw() };
    // The files get the mode of the database, and also its owner if root creates them.
    let may_write = user.is_root()
        || user.as_raw() == file.uid()
        || file.mode() & 0o002 != 0
        || file.mode() & 0o020 != 0 && group == file.gid();
    let exists = |suffix| sibling_path(&path, suffix).exists();
    // Byte 19 of the database's header is 2 in WAL mode.
    let mut header = [0; 20];
    if may_write || exists("-wal") && exists("-shm") || read_start(&path, &mut header).is_none() || header[19] != 2 {
        return Ok(());
    }
    Err(OpenError::WalOfAnotherUser { path: database.to_owned(), owner: user_name(file.uid()) })
}

/// Returns the error for a `-wal` or `-shm` that exists and that this user is not allowed to read.
#[cfg(unix)]
pub(super) fn unreadable_file(database: &Path) -> Option<OpenError> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Access, access};

    let path = std::fs::canonicalize(database).ok()?;
    let files = ["-wal", "-shm"].map(|suffix| crate::wal_index::sibling_path(&path, suffix));
    let path = files.into_iter().find(|path| access(path, Access::READ_OK) == Err(rustix::io::Errno::ACCESS))?;
    let owner = user_name(path.metadata().ok()?.uid());
    Some(OpenError::WalOutOfReach { path, owner })
}

/// Returns the name of a user, or its number if `/etc/passwd` does not name it.
#[cfg(unix)]
fn user_name(user: u32) -> String {
    let (users, user) = (std::fs::read_to_string("/etc/passwd").unwrap_or_default(), user.to_string());
    let mut fields = users.lines().map(|line| line.split(':'));
    let name = fields.find_map(|mut fields| fields.next().filter(|_| fields.nth(1) == Some(&user)));
    name.unwrap_or(&user).to_owned()
}

/// Always succeeds: on other systems files have no separate owner.
#[cfg(not(unix))]
pub(crate) fn check(_: &Path) -> Result<(), OpenError> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn unreadable_file(_: &Path) -> Option<OpenError> {
    None
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use rusqlite::Connection;
    use rustix::fs::{Gid, Uid};
    use rustix::process::{getegid, geteuid};

    use super::*;

    /// Creates a database with `mode` and `journal`, owned by this user or, if that is the superuser, perhaps by another one.
    fn database(mode: u32, journal: &str) -> (tempfile::TempDir, u32) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("host.sqlite3");
        let connection = Connection::open(&path).unwrap();
        connection.query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(())).unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        drop(connection);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        if geteuid().is_root() {
            // May fail in a container, whose superuser may lack the right.
            let _ = std::os::unix::fs::chown(&path, Some(1), None);
        }
        (directory, fs::metadata(&path).unwrap().uid())
    }

    fn is_opened(directory: &tempfile::TempDir, user: u32, group: u32) -> bool {
        let path = directory.path().join("host.sqlite3");
        match check_for(&path, Uid::from_raw(user), Gid::from_raw(group)) {
            Ok(()) => true,
            Err(OpenError::WalOfAnotherUser { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn wal_is_created_only_if_its_program_can_write_it() {
        let group = getegid().as_raw();
        for (mode, is_owner, is_in_group, expected) in [
            (0o644, true, false, true),
            (0o644, false, true, false),
            (0o664, false, true, true),
            (0o664, false, false, false),
            (0o646, false, false, true),
        ] {
            let (directory, owner) = database(mode, "wal");
            let user = if is_owner { owner } else { owner + 1 };
            let opened = is_opened(&directory, user, if is_in_group { group } else { group + 1 });
            assert_eq!(opened, expected, "{mode:o} {is_owner} {is_in_group}");
            assert!(is_opened(&directory, 0, group + 1), "files of the superuser get the owner of the database");
        }
        // With the setgid bit, new files have the directory's group.
        let (directory, owner) = database(0o664, "wal");
        fs::set_permissions(directory.path(), Permissions::from_mode(0o2755)).unwrap();
        assert!(is_opened(&directory, owner + 1, group + 1));
    }

    #[test]
    fn any_user_opens_database_that_needs_no_new_wal() {
        let other_group = getegid().as_raw() + 1;
        let (directory, owner) = database(0o644, "delete");
        assert!(is_opened(&directory, owner + 1, other_group));
        let (directory, owner) = database(0o644, "wal");
        for (suffix, expected) in [("-wal", false), ("-shm", true)] {
            fs::write(directory.path().join(format!("host.sqlite3{suffix}")), "").unwrap();
            assert_eq!(is_opened(&directory, owner + 1, other_group), expected, "{suffix}");
        }
    }

    #[test]
    fn user_name_falls_back_to_number() {
        assert_eq!(user_name(0), "root");
        assert_eq!(user_name(4_000_000_000), "4000000000");
    }
}
