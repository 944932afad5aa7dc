//! [`ConnectError`]: why no server of an address is spoken to.

use std::error::Error;
use std::fmt;
use std::iter::successors;

use catalogue_core::storage::StorageError;
use tokio_postgres::error::SqlState;

use crate::error::{meaning, unavailable};

/// What each server that was tried failed with, in that order.
#[derive(Debug)]
pub(crate) struct ConnectError(Vec<(String, Failure)>);

/// What one server failed with.
#[derive(Debug)]
pub(crate) enum Failure {
    Postgres(tokio_postgres::Error),
    /// The primary was asked for.
    TakesNoWrites,
    /// A standby was asked for.
    TakesWrites,
}

impl ConnectError {
    pub(crate) fn new(failures: Vec<(String, Failure)>) -> Self {
        Self(failures)
    }

    /// Whether a server has no place for one session more.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        self.0.iter().any(|(_, failure)| match failure {
            Failure::Postgres(error) => error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS),
            _ => false,
        })
    }

    /// As an error of the storage, whose source is the database's own, of the server whose failure says most.
    pub(crate) fn into_storage_error(mut self) -> StorageError {
        // What each server said, where there are several.
        let servers = if self.0.len() > 1 { format!(" ({self})") } else { String::new() };
        // A standby is there to be passed over, so what the other servers failed with says more.
        if let Some(telling) = self.0.iter().rposition(|(_, failure)| matches!(failure, Failure::Postgres(_)))
            && let (_, Failure::Postgres(error)) = self.0.swap_remove(telling)
        {
            let (kind, message) = meaning(&error);
            return StorageError::new(kind, format!("{message}{servers}")).with_source(error);
        }
        let message = match self.0.last() {
            Some((_, Failure::TakesWrites)) => "the address names no standby, and asks for one (target_session_attrs)",
            _ => {
                "the address names no server that takes writes, only a standby or one that was set read-only; name the \
                 primary, or write target_session_attrs=any to read answers that may be old"
            }
        };
        unavailable(format!("{message}{servers}"))
    }
}

impl Error for ConnectError {}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (server, failure)) in self.0.iter().enumerate() {
            let separator = if number > 0 { "; " } else { "" };
            write!(f, "{separator}{server}: {failure}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakesNoWrites => f.write_str("a standby, or set read-only"),
            Self::TakesWrites => f.write_str("no standby"),
            Self::Postgres(error) => {
                let chain = successors(Some(error as &dyn Error), |error| (*error).source());
                let text = chain.map(ToString::to_string).collect::<Vec<_>>().join(": ");
                // A database says what it has to say in several lines.
                f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}
