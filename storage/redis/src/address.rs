//! [`RedisAddress`]: the address of Redis.

use std::fmt;

use redis::Client;
use thiserror::Error;

const HINT: &str = "use redis://HOST:PORT, such as redis://127.0.0.1:6379";

/// Address of Redis, perhaps with a user and a password, which `Display` and `Debug` omit.
#[derive(Clone)]
pub struct RedisAddress(pub(crate) Client);

/// Why a text is not a [`RedisAddress`]. The message does not repeat the text, which may contain a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidRedisAddress {
    /// The text does not begin with `redis://`.
    #[error("only Redis without TLS is supported; {HINT}")]
    Scheme,
    /// The text is not a valid Redis URL.
    #[error("invalid Redis URL; {HINT}")]
    Unreadable,
}

impl RedisAddress {
    /// Parses an address such as `redis://user:password@127.0.0.1:6379/0`.
    ///
    /// # Errors
    /// Returns an error if `text` is not such an address.
    pub fn parse(text: &str) -> Result<Self, InvalidRedisAddress> {
        if !text.starts_with("redis://") {
            return Err(InvalidRedisAddress::Scheme);
        }
        Client::open(text).map(Self).map_err(|_| InvalidRedisAddress::Unreadable)
    }
}

/// Writes only the host and port, since all else may be secret.
impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis://{}", self.0.get_connection_info().addr())
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_their_secrets() {
        for (text, displayed) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
            ("redis://user:hunter2@cache.example:1234/3", "redis://cache.example:1234"),
        ] {
            let address = RedisAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), displayed);
            assert!(!format!("{address:?}").contains("hunter2"));
        }
        for text in ["", "hunter2", "http://hunter2@a", "rediss://:hunter2@a", "redis://", "redis://:hunter2@a:port"] {
            let message = RedisAddress::parse(text).unwrap_err().to_string();
            assert!(message.contains("redis://HOST:PORT") && !message.contains("hunter2"), "{text}: {message}");
        }
    }
}
