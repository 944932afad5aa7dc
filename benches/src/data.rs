//! [`Data`]: a generated database of any size, with a key for each account.

use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::path::PathBuf;

use catalogue_core::AccountId;
use catalogue_core::admin::{Account, AdminStorage, NewCredential, Record};
use catalogue_core::auth::{NewToken, Scopes};
use catalogue_core::storage::{Actor, StorageError};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_postgres_cluster::Cluster;
use catalogue_sqlite::SqliteStorage;
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio_postgres::{Client, NoTls};

use crate::accounting::{CpuTimes, cpu_of_children};
use crate::courses::course;

/// Number of records per write.
const BATCH: usize = 1_000;

/// A generated database. Dropping it removes the database.
#[derive(Debug)]
pub struct Data {
    directory: TempDir,
    cluster: Option<Cluster>,
    owners: Vec<Owner>,
}

/// An account, its number of courses, and a key that reads them.
#[derive(Debug)]
pub struct Owner {
    /// The account.
    pub account: AccountId,
    /// Number of courses.
    pub courses: usize,
    /// The key.
    pub token: NewToken,
}

impl Data {
    /// Creates an SQLite file: `sizes` has each account's number of courses; the first `with_modules` courses have modules.
    pub fn sqlite(sizes: &[usize], with_modules: usize) -> Result<Self, Box<dyn Error>> {
        let mut data = Self { directory: tempfile::tempdir()?, cluster: None, owners: Vec::new() };
        let storage = SqliteStorage::open_and_migrate(data.path())?;
        data.owners = Builder::new_current_thread().build()?.block_on(fill(&storage, sizes, with_modules))?;
        Ok(data)
    }

    /// Like [`sqlite`](Self::sqlite), but in a private, on-disk PostgreSQL cluster.
    pub fn postgres(sizes: &[usize], with_modules: usize) -> Result<Self, Box<dyn Error>> {
        let cluster = Cluster::start_in(&env::temp_dir()).map_err(|error| format!("no PostgreSQL: {error}"))?;
        let address = cluster.address("postgres");
        let owners = Builder::new_current_thread().enable_all().build()?.block_on(async {
            let storage = PostgresStorage::open_and_migrate(&Options::parse(&address)?).await?;
            let owners = fill(&storage, sizes, with_modules).await?;
            connect(&address).await?.batch_execute("VACUUM (ANALYZE)").await?;
            Ok::<_, Box<dyn Error>>(owners)
        })?;
        Ok(Self { directory: tempfile::tempdir()?, cluster: Some(cluster), owners })
    }

    /// Returns the accounts, in the order of `sizes`.
    pub fn accounts(&self) -> &[Owner] {
        &self.owners
    }

    /// Returns the path of the SQLite file.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("catalogue.db")
    }

    /// Returns the value of `--database`.
    pub fn address(&self) -> String {
        match &self.cluster {
            Some(cluster) => format!("postgres://postgres@/postgres?host={}", cluster.directory.display()),
            None => format!("sqlite:{}", self.path().display()),
        }
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        self.cluster.is_some()
    }

    /// Returns the processor time of PostgreSQL's processes; `None` for SQLite, which has no processes.
    pub fn cpu_of_database(&self) -> io::Result<Option<CpuTimes>> {
        let Some(cluster) = &self.cluster else { return Ok(None) };
        let file = fs::read_to_string(cluster.directory.join("data/postmaster.pid"))?;
        let id = file.lines().next().and_then(|line| line.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        cpu_of_children(id).map(Some)
    }

    /// Writes a file that is removed with the database, and returns its path.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> io::Result<String> {
        let path = self.directory.path().join(name);
        fs::write(&path, bytes)?;
        Ok(path.display().to_string())
    }
}

impl Owner {
    /// Returns a request for `path` of the API with the account's key; `fields` are more header lines, each with a CRLF.
    pub fn request(&self, path: &str, fields: &str) -> Vec<u8> {
        let token = self.token.expose();
        format!("GET /api/v1{path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n{fields}\r\n").into()
    }
}

/// Opens a connection to PostgreSQL.
pub(crate) async fn connect(address: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
    // The result is ignored: the client's next call returns the connection's error.
    tokio::spawn(connection);
    Ok(client)
}

/// Returns the id of account `number`.
pub fn account(number: usize) -> AccountId {
    AccountId::new(format!("acc_{number:04}"))
}

/// Returns an account with a new key that reads its courses.
pub(crate) fn key(account: AccountId, courses: usize) -> (Owner, NewCredential) {
    let scopes = Scopes::from_names(["read:courses"]);
    let (token, credential) = NewCredential::api_key(account.clone(), "benchmark", scopes);
    (Owner { account, courses, token }, credential)
}

/// Writes accounts with keys: `sizes` has each account's number of courses; the first `with_modules` courses have modules.
pub async fn fill(
    storage: &impl AdminStorage,
    sizes: &[usize],
    mut with_modules: usize,
) -> Result<Vec<Owner>, StorageError> {
    let (mut import, mut records) = (storage.begin_import().await?, Vec::new());
    let (mut owners, mut credentials) = (Vec::new(), Vec::new());
    for (number, &courses) in sizes.iter().enumerate() {
        let account = account(number);
        let name = format!("Studio {number}");
        records.push(Record::Account(Account { id: account.clone(), name, email: String::new() }));
        for number in 0..courses {
            let mut course = course(&account, number);
            if with_modules == 0 {
                course.modules.clear();
            }
            with_modules = with_modules.saturating_sub(1);
            records.push(Record::Course(course));
            if records.len() >= BATCH {
                import.put_all(&records).await?;
                records.clear();
            }
        }
        let (owner, credential) = key(account, courses);
        credentials.push(credential);
        owners.push(owner);
    }
    import.put_all(&records).await?;
    import.commit().await?;
    for credential in &credentials {
        storage.create_key(credential, &Actor::OPERATOR).await?;
    }
    Ok(owners)
}
