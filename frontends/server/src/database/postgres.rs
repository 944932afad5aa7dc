//! [`Postgres`]: a PostgreSQL database by its address, whose secrets are never shown.

use std::error::Error;
use std::fmt;

use catalogue_core::storage::StorageErrorKind;
use catalogue_postgres::{OpenError, Options, PostgresStorage};
use tokio_postgres::error::SqlState;

use super::{Migration, OpenFailure, unconfirmed};
use crate::exit::{Failure, chain};
use crate::text::printable;

/// A PostgreSQL database. Its display contains only hosts and name: the rest of the address may hold a password.
#[derive(Clone, Debug)]
pub(crate) struct Postgres {
    pub(super) options: Options,
    display_address: String,
}

impl Postgres {
    /// Parses an address. Messages repeat none of it.
    pub(super) fn parse(address: &str) -> Result<Self, String> {
        let display_address = display_address(address)?;
        let options = Options::parse(address).map_err(|error| error.to_string())?;
        Ok(Self { options, display_address })
    }

    /// Applies `change` to the options.
    pub(super) fn with(self, change: impl FnOnce(Options) -> Options) -> Self {
        Self { options: change(self.options), ..self }
    }

    /// Opens the database; creates or migrates its tables first if that is allowed.
    pub(super) async fn open(&self, migration: Migration) -> Result<PostgresStorage, OpenFailure> {
        let opened = match migration {
            Migration::Allowed => PostgresStorage::open_and_migrate(&self.options).await,
            Migration::Forbidden => PostgresStorage::open(&self.options).await,
            Migration::Unneeded => PostgresStorage::open_only_views(&self.options).await,
        };
        opened.map_err(|error| self.open_failure(&error))
    }

    /// Brings the schema up to date. Returns its version before and now.
    pub(super) async fn migrate(&self) -> Result<(u32, u32), OpenFailure> {
        let migrated = PostgresStorage::migrate(&self.options).await.map_err(|error| self.open_failure(&error))?;
        Ok((migrated.from, migrated.to))
    }

    fn open_failure(&self, error: &OpenError) -> OpenFailure {
        let can_pass = error.is_transient();
        let what = match error {
            OpenError::OlderSchema { found: 0, .. } => {
                "the catalogue's tables do not exist; create them with `migrate` or `import`".to_owned()
            }
            OpenError::Failed(cause) if cause.kind() == StorageErrorKind::OutcomeUnknown => {
                unconfirmed(cause).message()
            }
            OpenError::Failed(cause) if cause.to_string().contains("USER:PASSWORD@") => {
                format!("{}, or keep the address in a file (file:PATH); PGPASSWORD is not read", chain(cause))
            }
            OpenError::Failed(cause) => format!("{}{}", chain(cause), hint(can_pass, cause.source())),
            other => chain(other),
        };
        let is_uncreated = matches!(error, OpenError::OlderSchema { found: 0, .. });
        let views = if let OpenError::Views(problems) = error { problems.clone() } else { Vec::new() };
        OpenFailure { failure: Failure::work(format!("{self}: {what}")), can_pass, is_uncreated, views }
    }
}

impl fmt::Display for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display_address)
    }
}

/// Parses the addresses of standbys. Messages repeat none of them.
pub(crate) fn parse_replicas(addresses: &[String]) -> Result<Vec<String>, String> {
    for (number, address) in (1..).zip(addresses) {
        if !address.starts_with("postgres:") && !address.starts_with("postgresql:") {
            return Err(format!("replica {number} is not a PostgreSQL address; use postgres://USER@HOST/NAME"));
        }
        Postgres::parse(address).map_err(|error| format!("replica {number}: {error}"))?;
    }
    Ok(addresses.to_vec())
}

/// Returns what may be shown of an address: hosts and name. Refuses an address whose parts are ambiguous.
fn display_address(address: &str) -> Result<String, String> {
    const HINT: &str = "use postgres://USER@HOST/NAME, with special characters percent-encoded";
    let Some((_, parts)) = address.split_once("://") else {
        return Err(format!("the database address has no //; {HINT}"));
    };
    let (authority, rest) = parts.split_at(parts.find(['/', '?']).unwrap_or(parts.len()));
    let (user, hosts) = authority.split_once('@').unwrap_or(("", authority));
    // Programs disagree on where a password with an unescaped `@` ends.
    if hosts.contains('@') || rest.contains('@') {
        let found = if user.contains(':') || rest.contains('@') { "user or password" } else { "user" };
        return Err(format!("the {found} in the database address contains a special character; {HINT}"));
    }
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    let parameter = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let hosts = if hosts.is_empty() { parameter("host").unwrap_or_default() } else { hosts };
    Ok(printable(&format!("postgres://{hosts}{name}")).into_owned())
}

/// Returns a hint to append to the message of an error, or an empty text if there is none.
fn hint(can_pass: bool, cause: Option<&(dyn Error + 'static)>) -> &'static str {
    let code = cause.and_then(|cause| cause.downcast_ref::<tokio_postgres::Error>()?.code());
    match code {
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => "; create it with CREATE DATABASE, or use another",
        Some(code) if ["08P01", "26000", "42P05"].contains(&code.code()) => "; set --database-pooler",
        Some(code) if code.code().starts_with("28") => "; correct the user or the password in the address",
        None if can_pass => "; start the database, or correct the address",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_contains_only_hosts_and_name() {
        for (address, expected) in [
            ("postgres://u@h/n", "postgres://h/n"),
            ("postgresql://u:s3cret@h:5433,i/n?connect_timeout=3", "postgres://h:5433,i/n"),
            ("postgres://u:s3cret%2F%40@[::1]:1/n?password=s3cret", "postgres://[::1]:1/n"),
            ("postgres:///n?password=s3cret&host=/run/postgresql", "postgres:///run/postgresql/n"),
            ("postgres://%2Frun%2Fpostgresql/n", "postgres://%2Frun%2Fpostgresql/n"),
            ("postgres://h", "postgres://h"),
        ] {
            let postgres = Postgres::parse(address).unwrap();
            assert_eq!(postgres.to_string(), expected);
            assert!(!format!("{postgres:?}").contains("s3cret"), "{postgres:?}");
        }
    }

    #[test]
    fn invalid_address_is_refused_without_being_printed() {
        for address in [
            "postgres:u:s3cret@h/n",
            "postgres://u:a@s3cret@h/n",
            "postgres://u:a/s3cret@h/n",
            "postgres://u:a?s3cret@h/n",
            "postgres://h/n?password=a@s3cret",
            "postgres://u:s3cret@h:port/n",
            "postgres://u:s3cret@/n",
            "postgres://u:s3cret@h/n?s3cret=1",
        ] {
            let message = Postgres::parse(address).unwrap_err();
            assert!(message.contains("use postgres://") && !message.contains("s3cret"), "{address}: {message}");
        }
    }
}
