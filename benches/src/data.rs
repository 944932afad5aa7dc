//! [`Data`]: a database of any size, with a key for each account.

use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::admin::{Account, AdminStorage, NewCredential, Record};
use catalogue_core::auth::{NewToken, Scopes};
use catalogue_core::storage::{Actor, StorageError};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use catalogue_sqlite::SqliteStorage;
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio_postgres::NoTls;

use crate::accounting::cpu_of_children;
use crate::courses::course;

/// How many records are put at the same time.
const AT_ONCE: usize = 1_000;

/// A database that is removed with this value.
#[derive(Debug)]
pub struct Data {
    directory: TempDir,
    cluster: Option<Cluster>,
    owners: Vec<Owner>,
}

/// An account, how many courses it has, and a key that reads them.
#[derive(Debug)]
pub struct Owner {
    /// The account.
    pub account: AccountId,
    /// How many courses it has.
    pub courses: usize,
    /// The key.
    pub token: NewToken,
}

impl Data {
    /// An SQLite file with accounts of so many courses each, so many of the first of which have modules.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn sqlite(sizes: &[usize], modules: usize) -> Result<Self, Box<dyn Error>> {
        let mut data = Self { directory: tempfile::tempdir()?, cluster: None, owners: Vec::new() };
        let storage = SqliteStorage::open_and_migrate(data.path())?;
        data.owners = Builder::new_current_thread().build()?.block_on(fill(&storage, sizes, modules))?;
        Ok(data)
    }

    /// The same in a private PostgreSQL on the disk.
    ///
    /// # Errors
    /// When PostgreSQL is missing or fails.
    pub fn postgres(sizes: &[usize], modules: usize) -> Result<Self, Box<dyn Error>> {
        let cluster = Cluster::start_in(&env::temp_dir()).map_err(|error| format!("no PostgreSQL: {error}"))?;
        let address = cluster.address("postgres");
        let owners = Builder::new_current_thread().enable_all().build()?.block_on(async {
            let storage = PostgresStorage::open_and_migrate(&Options::parse(&address)?).await?;
            let owners = fill(&storage, sizes, modules).await?;
            let (client, connection) = tokio_postgres::connect(&address, NoTls).await?;
            // An error of the connection is the next call's, too.
            tokio::spawn(connection);
            client.batch_execute("VACUUM (ANALYZE)").await?;
            Ok::<_, Box<dyn Error>>(owners)
        })?;
        Ok(Self { directory: tempfile::tempdir()?, cluster: Some(cluster), owners })
    }

    /// The accounts, the first one first.
    #[must_use]
    pub fn accounts(&self) -> &[Owner] {
        &self.owners
    }

    /// The SQLite file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("catalogue.db")
    }

    /// The database as the program's command line names it.
    #[must_use]
    pub fn address(&self) -> String {
        match &self.cluster {
            Some(cluster) => format!("postgres://postgres@/postgres?host={}", cluster.directory.display()),
            None => format!("sqlite:{}", self.path().display()),
        }
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        self.cluster.is_some()
    }

    /// How much of the processor's time PostgreSQL's processes have used so far; `None` for SQLite, which has none.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn cpu_of_database(&self) -> io::Result<Option<Duration>> {
        let Some(cluster) = &self.cluster else { return Ok(None) };
        let file = fs::read_to_string(cluster.directory.join("data/postmaster.pid"))?;
        let id = file.lines().next().and_then(|line| line.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        cpu_of_children(id).map(Some)
    }

    /// Writes a file beside the database and says where it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_beside(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let path = self.directory.path().join(name);
        fs::write(&path, bytes)?;
        Ok(path.display().to_string())
    }
}

impl Owner {
    /// A request for that path of the API with the account's key and further fields, each of which ends its line.
    #[must_use]
    pub fn request(&self, path: &str, fields: &str) -> Vec<u8> {
        let token = self.token.expose();
        format!("GET /api/v1{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n{fields}\r\n").into()
    }
}

/// The account of that number.
#[must_use]
pub fn account(number: usize) -> AccountId {
    AccountId::new(format!("acc_{number:04}"))
}

/// Writes accounts of so many courses each, so many of the first of which have modules, and a key for each.
///
/// # Errors
/// When the storage fails.
pub async fn fill(
    storage: &impl AdminStorage,
    sizes: &[usize],
    mut modules: usize,
) -> Result<Vec<Owner>, StorageError> {
    let (mut import, mut records) = (storage.begin_import().await?, Vec::new());
    let (mut owners, mut credentials) = (Vec::new(), Vec::new());
    for (number, &courses) in sizes.iter().enumerate() {
        let account = account(number);
        let name = format!("Studio {number}");
        records.push(Record::Account(Account { id: account.clone(), name, email: String::new() }));
        for number in 0..courses {
            let mut course = course(&account, number);
            if modules == 0 {
                course.modules.clear();
            }
            modules = modules.saturating_sub(1);
            records.push(Record::Course(course));
            if records.len() == AT_ONCE {
                import.put_all(&records).await?;
                records.clear();
            }
        }
        let scopes = Scopes::from_names(["read:courses"]);
        let (token, credential) = NewCredential::api_key(account.clone(), "benchmark", scopes);
        credentials.push(credential);
        owners.push(Owner { account, courses, token });
    }
    import.put_all(&records).await?;
    import.commit().await?;
    for credential in &credentials {
        storage.create_key(credential, &Actor::OPERATOR).await?;
    }
    Ok(owners)
}
