//! Parsers for the values of settings. Each error message states what is valid.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, CatalogueBuilder, MountUrl};

use crate::database::Database;
use crate::units;

/// Maximum of `--database-connections`. Each connection takes an open file, which clients then cannot use.
pub(super) const MAX_DATABASE_CONNECTIONS: usize = 1_000;
/// Maximum count: within the limit of Tokio's semaphores, and more than any machine can use.
pub(super) const MAX_COUNT: usize = 1 << 28;
/// Maximum request timeout; a longer one is shortened, because it would never expire in practice.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn flag(text: &str) -> Result<bool, String> {
    one_of(text, &[("true", true), ("false", false), ("1", true), ("0", false)])
}

/// Parses an IP address and a port. A bare port is on loopback only, and so is `localhost`, whatever it resolves to.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if port.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(port) = port.parse()
    {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| format!("invalid address {text:?}; use an IP address and a port, like 127.0.0.1:8080"))
}

/// Parses how long to wait for a database: forever, for some time, or not at all.
pub(super) fn wait(text: &str) -> Result<Option<Duration>, String> {
    match flag(text) {
        Ok(wait) => Ok(wait.then_some(Duration::MAX)),
        Err(_) => units::duration(text).map(Some),
    }
}

pub(super) fn sqlite_file(text: &str) -> Result<PathBuf, String> {
    match Database::parse(text)? {
        Database::File { path, .. } => Ok(path),
        _ => Err("not an SQLite file; use sqlite:PATH, like sqlite:/srv/app/db.sqlite3".to_owned()),
    }
}

/// Parses a number of connections or requests.
pub(super) fn count<T: TryFrom<usize>>(text: &str, max: usize) -> Result<T, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && (1..=max).contains(number));
    let invalid = || format!("invalid number {text:?}; use an integer from 1 to {max}, like 1000");
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(invalid)
}

/// Parses the name of a value in `known`.
pub(super) fn one_of<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        format!("invalid value {text:?}; use {}", names.join(" or "))
    })
}

/// Parses the names of values in `known`, at least one.
pub(super) fn some_of<T: Copy>(texts: &[String], known: &[(&str, T)]) -> Result<Vec<T>, String> {
    if texts.is_empty() {
        return Err(format!("no value given; use at least one, like {}", known[0].0));
    }
    texts.iter().map(|text| one_of(text, known)).collect()
}

pub(super) fn url(text: &str) -> Result<String, String> {
    MountUrl::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Returns `text` if the library accepts it.
pub(super) fn accepted_by_builder(
    text: &str,
    change: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder,
) -> Result<String, String> {
    buildable(change).map(|()| text.to_owned())
}

/// Checks that the library accepts what `change` sets.
pub(super) fn buildable(change: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Result<(), String> {
    change(Catalogue::with_api_keys(MemoryStorage::new())).build().map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::table::REQUEST_TIMEOUT;

    #[test]
    fn bare_port_listens_on_loopback() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::]:80", "[::]:80"),
        ] {
            assert_eq!(listen_address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for text in
            ["", ":", "localhost", "localhost8080", "+80", ":+80", "65536", "::80", "example.com:80", "0.0.0.0", "*:80"]
        {
            assert!(listen_address(text).unwrap_err().contains("like 127.0.0.1:8080"), "{text}");
        }
    }

    #[test]
    fn counts_start_at_1() {
        let count = |text| count::<u32>(text, MAX_COUNT);
        assert_eq!(count("1"), Ok(1));
        assert_eq!(count("10000"), Ok(10_000));
        for text in ["", "0", "-1", "+1", "1.5", "many", "4294967296", "268435457"] {
            assert!(count(text).unwrap_err().contains("like 1000"), "{text}");
        }
    }

    #[test]
    fn request_timeout_is_limited_to_a_day() {
        let request_timeout = |text: &str| REQUEST_TIMEOUT.parse(&[text.to_owned()]);
        assert_eq!(request_timeout("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(request_timeout("1000000000000d"), Ok(DAY));
        assert!(request_timeout("0s").unwrap_err().contains("use at least 1s"));
        assert!(request_timeout("soon").is_err());
    }

    #[test]
    fn wait_accepts_booleans_and_durations() {
        for (text, expected) in [
            ("true", Some(Duration::MAX)),
            ("1", Some(Duration::MAX)),
            ("false", None),
            ("0", None),
            ("2m", Some(Duration::from_secs(120))),
        ] {
            assert_eq!(wait(text), Ok(expected), "{text}");
        }
        assert!(wait("yes").unwrap_err().contains("invalid duration"));
    }
}
