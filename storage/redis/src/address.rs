//! [`RedisAddress`]: where Redis is.

use std::fmt;

use redis::Client;
use thiserror::Error;

const RIGHT: &str = "write redis://HOST:PORT, like redis://127.0.0.1:6379";

/// Where Redis is, perhaps with a user and a password, which are never shown.
#[derive(Clone)]
pub struct RedisAddress(pub(crate) Client);

/// Why a text is no [`RedisAddress`]. It does not repeat the text, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidRedisAddress {
    /// It does not begin with `redis://`.
    #[error("the store of the rate limit is Redis without TLS; {RIGHT}")]
    Scheme,
    /// What follows is no host and port.
    #[error("the address of the store cannot be read; {RIGHT}")]
    Unreadable,
}

impl RedisAddress {
    /// Reads an address such as `redis://user:password@127.0.0.1:6379/0`.
    ///
    /// # Errors
    /// When it is not of that form.
    pub fn parse(text: &str) -> Result<Self, InvalidRedisAddress> {
        if !text.starts_with("redis://") {
            return Err(InvalidRedisAddress::Scheme);
        }
        Client::open(text).map(Self).map_err(|_| InvalidRedisAddress::Unreadable)
    }
}

/// Without what may be secret.
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
        for (text, shown) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
            ("redis://user:hunter2@cache.example:1234/3", "redis://cache.example:1234"),
        ] {
            let address = RedisAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("hunter2"));
        }
        for text in ["", "hunter2", "http://hunter2@a", "rediss://:hunter2@a", "redis://", "redis://:hunter2@a:port"] {
            let message = RedisAddress::parse(text).unwrap_err().to_string();
            assert!(message.contains("redis://HOST:PORT") && !message.contains("hunter2"), "{text}: {message}");
        }
    }
}
