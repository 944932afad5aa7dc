//! SQLite storage for the course catalogue API.

mod open_error;

use std::path::Path;

use catalogue_core::{
    AccountId, AdminStorage, CourseDetail, CourseListItem, CourseStorage, Credential, CredentialRecord,
    CredentialStorage, Import, NewCredential, Page, PageRequest, Revision, StorageError, Timestamp, TokenDigest,
    Visitor, async_trait,
};
pub use open_error::OpenError;

/// Accounts, courses and credentials in one SQLite database.
#[derive(Clone, Debug)]
pub struct SqliteStorage {}

/// What [`SqliteStorage::migrate`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The schema's version before; 0 for a new database.
    pub from: u32,
    /// The schema's version now.
    pub to: u32,
}

impl SqliteStorage {
    /// Opens an existing database of the current schema.
    ///
    /// # Errors
    /// When there is none, or it is not one of ours, or of another schema version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let _ = path;
        unimplemented!()
    }

    /// Opens a database, making the file where it is missing (not its directory) and bringing its schema up to date.
    ///
    /// # Errors
    /// As for [`migrate`](Self::migrate).
    pub fn open_and_migrate(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let _ = path;
        unimplemented!()
    }

    /// A new empty database in this process's memory. Clones share it.
    ///
    /// # Errors
    /// When SQLite cannot make one.
    pub fn in_memory() -> Result<Self, OpenError> {
        unimplemented!()
    }

    /// Makes the file where it is missing and brings its schema up to date.
    ///
    /// # Errors
    /// When the directory is missing, or the file is not a database of ours, read-only, or of a newer version.
    pub fn migrate(path: impl AsRef<Path>) -> Result<Migrated, OpenError> {
        let _ = path;
        unimplemented!()
    }
}

#[async_trait]
impl CourseStorage for SqliteStorage {
    async fn list_courses(&self, _: &AccountId, _: &PageRequest) -> Result<Page<CourseListItem>, StorageError> {
        unimplemented!()
    }
    async fn find_course(&self, _: &AccountId, _: &str) -> Result<Option<CourseDetail>, StorageError> {
        unimplemented!()
    }
    async fn revision(&self, _: &AccountId) -> Result<Option<Revision>, StorageError> {
        unimplemented!()
    }
}

#[async_trait]
impl CredentialStorage for SqliteStorage {
    async fn find_credential(&self, _: &TokenDigest) -> Result<Option<Credential>, StorageError> {
        unimplemented!()
    }
}

#[async_trait]
impl AdminStorage for SqliteStorage {
    async fn begin_import(&self) -> Result<Box<dyn Import>, StorageError> {
        unimplemented!()
    }
    async fn export(&self, _: &mut Visitor<'_>) -> Result<(), StorageError> {
        unimplemented!()
    }
    async fn remove_course(&self, _: &AccountId, _: &str) -> Result<bool, StorageError> {
        unimplemented!()
    }
    async fn create_credential(&self, _: &NewCredential) -> Result<(), StorageError> {
        unimplemented!()
    }
    async fn list_credentials(&self, _: &AccountId) -> Result<Option<Vec<CredentialRecord>>, StorageError> {
        unimplemented!()
    }
    async fn revoke_credential(&self, _: &str, _: Timestamp) -> Result<Option<CredentialRecord>, StorageError> {
        unimplemented!()
    }
}
