//! [`Data`]: a database with accounts and a key for each, made through the import of the program itself.

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

use catalogue_core::{Account, AccountId, NewToken};
use catalogue_sqlite::SqliteStorage;
use tempfile::TempDir;

use crate::courses::{account_line, course, course_line};
use crate::library::{grant, now};

/// A database in a directory of its own, removed with this value.
#[derive(Debug)]
pub struct Data {
    directory: TempDir,
    accounts: Vec<Owner>,
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
    /// Imports accounts with so many courses each, with modules or without, and gives each a key.
    ///
    /// # Errors
    /// When the import fails, or the database does.
    pub fn import(program: &Path, sizes: &[usize], modules: bool) -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let database = directory.path().join("catalogue.db");
        let mut import = Command::new(program)
            .args(["import", "-", "--database", &address(&database)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        let written = import.stdin.take().map(|input| write(input, sizes, modules));
        let status = import.wait()?;
        if !status.success() {
            return Err(format!("the import ended with {status}").into());
        }
        written.transpose()?;
        let storage = SqliteStorage::open(&database)?;
        let mut accounts = Vec::new();
        for (number, &courses) in sizes.iter().enumerate() {
            let account = account(number);
            let token = now(grant(&storage, &account))?;
            accounts.push(Owner { account, courses, token });
        }
        Ok(Self { directory, accounts })
    }

    /// The accounts, the first one first.
    #[must_use]
    pub fn accounts(&self) -> &[Owner] {
        &self.accounts
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("catalogue.db")
    }

    /// The database as the program's command line names it.
    #[must_use]
    pub fn address(&self) -> String {
        address(&self.path())
    }

    /// Writes a file beside the database and says where it is.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_beside(&self, name: &str, bytes: &[u8]) -> Result<String, Box<dyn Error>> {
        let path = self.directory.path().join(name);
        fs::write(&path, bytes)?;
        Ok(path.display().to_string())
    }
}

fn address(database: &Path) -> String {
    format!("sqlite:{}", database.display())
}

fn account(number: usize) -> AccountId {
    AccountId::new(format!("acc_{number:04}"))
}

fn write(input: ChildStdin, sizes: &[usize], modules: bool) -> std::io::Result<()> {
    let mut input = BufWriter::with_capacity(1 << 16, input);
    for (number, &courses) in sizes.iter().enumerate() {
        let id = account(number);
        let account = Account { id: id.clone(), name: format!("Studio {number}"), email: String::new() };
        writeln!(input, "{}", account_line(&account))?;
        for number in 0..courses {
            let mut course = course(&id, number);
            if !modules {
                course.modules.clear();
            }
            writeln!(input, "{}", course_line(&course))?;
        }
    }
    input.flush()
}
