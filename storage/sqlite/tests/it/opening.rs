//! Opening and migrating a path. Each error names the problem and leaves the file unchanged.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use catalogue_core::Course;
use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, PageRequest};
use catalogue_sqlite::{OpenError, SqliteStorage};
use rusqlite::Connection;

use crate::{course, database_in, import_one_course, items};

/// Returns the error of opening `path`. Asserts that its variant is the same without migration, and the file unchanged.
fn open_error(path: &Path) -> OpenError {
    let before = fs::read(path).ok();
    let error = SqliteStorage::open_and_migrate(path).unwrap_err();
    let opened = SqliteStorage::open(path).unwrap_err();
    assert_eq!(fs::read(path).ok(), before);
    assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&opened), "{error} / {opened}");
    error
}

#[test]
fn only_migration_creates_missing_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    assert!(matches!(SqliteStorage::open(&path), Err(OpenError::Missing(_))));
    assert!(!path.exists());
    for expected in [(0, 1), (1, 1)] {
        let migrated = SqliteStorage::migrate(&path).unwrap();
        assert_eq!((migrated.from, migrated.to), expected);
    }
    SqliteStorage::open(&path).unwrap();
}

#[test]
fn path_without_database_of_catalogue_is_refused_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("empty.db"), "").unwrap();
    fs::write(at("text.db"), "not a database, but long enough to be read. ".repeat(40)).unwrap();
    fs::write(at("zeros.db"), vec![0; 8192]).unwrap();
    let other = Connection::open(at("other.db")).unwrap();
    other.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE things (id INTEGER PRIMARY KEY);").unwrap();
    assert!(matches!(open_error(&at("other.db")), OpenError::OtherApplication(_)), "while it is open");
    drop(other);
    SqliteStorage::migrate(at("newer.db")).unwrap();
    Connection::open(at("newer.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for (path, is_expected) in [
        ("missing/catalogue.db", (|error| matches!(error, OpenError::MissingDirectory(_))) as fn(&OpenError) -> bool),
        ("empty.db/catalogue.db", |error| matches!(error, OpenError::MissingDirectory(_))),
        ("", |error| matches!(error, OpenError::NotAFile(_))),
        ("text.db", |error| matches!(error, OpenError::NotADatabase(_))),
        ("zeros.db", |error| matches!(error, OpenError::NotADatabase(_))),
        ("other.db", |error| matches!(error, OpenError::OtherApplication(_))),
        ("newer.db", |error| matches!(error, OpenError::NewerSchema { found: 99, known: 1, .. })),
    ] {
        let error = open_error(&at(path));
        assert!(is_expected(&error), "{path}: {error}");
    }
    assert!(!at("missing").exists());
}

#[test]
fn unreleased_schema_is_refused_for_any_version() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    SqliteStorage::migrate(&path).unwrap();
    for version in [1, 7] {
        let pragmas = format!("PRAGMA application_id = 0x63636174; PRAGMA user_version = {version}");
        Connection::open(&path).unwrap().execute_batch(&pragmas).unwrap();
        let error = open_error(&path);
        assert!(matches!(error, OpenError::UnreleasedSchema { beside_views: false, .. }), "{error}");
        let what_to_do = "export the courses with that build, import them into a new file with this one";
        assert!(error.to_string().contains(what_to_do), "{error}");
        let mut proceed = |_, _| ControlFlow::Continue(());
        let copied = SqliteStorage::back_up_to(&path, directory.path().join("copy"), &mut proceed).unwrap_err();
        assert!(std::error::Error::source(&copied).unwrap().to_string().contains(what_to_do), "{copied:?}");
    }
}

#[tokio::test]
async fn read_only_file_allows_reads_but_no_import() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    let account = import_one_course(&SqliteStorage::open_and_migrate(&path).unwrap()).await;
    let before = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();

    let storage = SqliteStorage::open(&path).unwrap();
    let items = items(&storage, &account, &PageRequest::default()).await.unwrap();
    assert_eq!(items.len(), 1);
    let Err(error) = storage.begin_import().await else { panic!("an import began") };
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn empty_file_opens_only_after_migration_that_may_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = database_in(&directory);
    fs::write(&path, "").unwrap();
    assert!(matches!(SqliteStorage::open(&path), Err(OpenError::OlderSchema { found: 0, .. })));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let error = SqliteStorage::migrate(&path).unwrap_err();
    assert!(matches!(error, OpenError::ReadOnly(_)), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    SqliteStorage::open_and_migrate(&path).unwrap();
}

#[tokio::test]
async fn import_truncates_wal() {
    let directory = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open_and_migrate(database_in(&directory)).unwrap();
    let reader = SqliteStorage::open(database_in(&directory)).unwrap();
    let account = import_one_course(&storage).await;
    reader.find_course(&account, "course").await.unwrap();
    // The reader's connection stays open and retains the WAL file; another import must empty it.
    let mut import = storage.begin_import().await.unwrap();
    import.put_course(&Course { title: "Other".to_owned(), ..course(&account) }).await.unwrap();
    import.commit().await.unwrap();
    assert_eq!(fs::metadata(directory.path().join("catalogue.db-wal")).unwrap().len(), 0);
}

#[test]
fn relative_path_is_never_parsed_as_uri() {
    let directory = tempfile::tempdir().unwrap();
    // All tests share the working directory, so the test uses a path from it instead of changing it.
    let working_directory = std::env::current_dir().unwrap();
    let root: std::path::PathBuf = working_directory.components().skip(1).map(|_| "..").collect();
    let relative_directory = root.join(directory.path().strip_prefix("/").unwrap());
    for name in [":memory:", "file:x.db", "x.db?mode=memory"] {
        let path = relative_directory.join(name);
        SqliteStorage::migrate(&path).unwrap();
        assert!(directory.path().join(name).exists(), "{name}");
    }
}

#[test]
#[cfg(unix)]
fn new_database_is_not_world_readable_even_behind_symlinks() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("below")).unwrap();
    for (target, links) in [
        ("target", &[("link", "target")][..]),
        ("below/target", &[("link", "below/second"), ("below/second", "target")]),
        ("target", &[("link", "below/../second"), ("second", at("target").to_str().unwrap())]),
        ("link", &[]),
    ] {
        for (link, leads_to) in links {
            symlink(leads_to, at(link)).unwrap();
        }
        let storage = SqliteStorage::open_and_migrate(at("link")).unwrap();
        assert_eq!(fs::symlink_metadata(at("link")).unwrap().is_symlink(), !links.is_empty());
        for folder in [directory.path(), &at("below")] {
            for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).filter(|path| !path.is_dir()) {
                let mode = fs::metadata(&file).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o640, "{file:?} of {links:?}");
            }
        }
        drop(storage);
        fs::remove_file(at(target)).unwrap();
        links.iter().for_each(|(link, _)| fs::remove_file(at(link)).unwrap());
    }
    // An existing file keeps the permissions that its owner has set.
    SqliteStorage::migrate(at("existing")).unwrap();
    fs::set_permissions(at("existing"), fs::Permissions::from_mode(0o644)).unwrap();
    SqliteStorage::open_and_migrate(at("existing")).unwrap();
    assert_eq!(fs::metadata(at("existing")).unwrap().permissions().mode() & 0o777, 0o644);
    symlink("link", at("link")).unwrap();
    SqliteStorage::open_and_migrate(at("link")).unwrap_err();
}
