//! [`SharedRateLimiter`]: several servers count together, in Redis.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use catalogue_core::{Identity, LimiterFuture, RateLimit, RateLimitKey, RateLimiter, Taken};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, RedisError, Script, ScriptInvocation};
use tokio::time::timeout;

use super::outage::Outage;

/// The longest that a request waits for the store.
const PATIENCE: Duration = Duration::from_millis(250);

const RIGHT: &str = "write redis://HOST:PORT, like redis://127.0.0.1:6379";

/// Counts in Redis, in one round trip a request and a second one where the request is given back. While Redis does not
/// answer, requests go on without being counted.
pub(super) struct SharedRateLimiter {
    limit: RateLimit,
    client: Client,
    /// Made by the first request, since it belongs to the runtime.
    connection: OnceLock<ConnectionManager>,
    take: Script,
    give_back: Script,
    outage: Outage,
}

impl SharedRateLimiter {
    /// Counts at that address. Nothing is asked there yet. No message repeats the address: it may hold a password.
    pub(super) fn at(address: &str, limit: RateLimit) -> Result<Self, String> {
        if !address.starts_with("redis://") {
            return Err(format!("the store of the rate limit is Redis without TLS; {RIGHT}"));
        }
        let client = Client::open(address).map_err(|_| format!("the address of the store cannot be read; {RIGHT}"))?;
        Ok(Self {
            limit,
            client,
            connection: OnceLock::new(),
            take: Script::new(include_str!("take.lua")),
            give_back: Script::new(include_str!("give_back.lua")),
            outage: Outage::new(),
        })
    }

    /// How many requests went on without being counted.
    pub(super) fn uncounted(&self) -> Arc<AtomicU64> {
        Arc::clone(self.outage.uncounted())
    }

    fn connection(&self) -> ConnectionManager {
        let connect = || {
            let config = ConnectionManagerConfig::new()
                .set_number_of_retries(0)
                .set_connection_timeout(Some(PATIENCE))
                .set_response_timeout(Some(PATIENCE));
            ConnectionManager::new_lazy_with_config(self.client.clone(), config).expect("nothing is subscribed to")
        };
        self.connection.get_or_init(connect).clone()
    }

    /// Runs a script; `None` where the store does not answer.
    async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Option<T> {
        if !self.outage.may_ask() {
            return None;
        }
        let mut connection = self.connection();
        let answer: Result<T, Silence> = match timeout(PATIENCE, script.invoke_async(&mut connection)).await {
            Ok(answer) => answer.map_err(Silence::Failed),
            Err(_) => Err(Silence::TooLong),
        };
        match answer {
            Ok(answer) => {
                self.outage.is_over();
                Some(answer)
            }
            Err(silence) => {
                self.outage.goes_on(&silence);
                None
            }
        }
    }

    /// Where the windows of a key are. Servers with another limit count elsewhere.
    fn place(&self, key: RateLimitKey<'_>) -> String {
        let (requests, seconds) = (self.limit.requests(), self.limit.window().as_secs());
        match key {
            RateLimitKey::Credential(Identity { account, kind, credential_id, .. }) => {
                let (account, kind) = (account.as_str(), kind.name());
                // With its length, so that no account's text runs into a credential's.
                format!("catalogue:{requests}/{seconds}:{kind}:{}:{account}:{credential_id}", account.len())
            }
            RateLimitKey::UnknownTokens(address) => format!("catalogue:{requests}/{seconds}:address:{address}"),
            _ => unreachable!("this server and the core are of one version"),
        }
    }
}

impl RateLimiter for SharedRateLimiter {
    fn limit(&self) -> RateLimit {
        self.limit
    }

    fn take<'l>(&'l self, key: RateLimitKey<'l>) -> LimiterFuture<'l, Taken> {
        LimiterFuture::later(async move {
            let mut script = self.take.key(self.place(key));
            let script = script.arg(self.limit.requests()).arg(self.limit.window().as_millis() as u64);
            let Some((granted, remaining, milliseconds, window)) = self.run(script).await else {
                self.outage.let_through();
                return Taken::Uncounted;
            };
            let resets_in = Duration::from_millis(milliseconds);
            if granted { Taken::Granted { remaining, resets_in, window } } else { Taken::Refused { resets_in } }
        })
    }

    fn give_back<'l>(&'l self, key: RateLimitKey<'l>, window: u64) -> LimiterFuture<'l, ()> {
        LimiterFuture::later(async move {
            // What is not given back is back when the window ends.
            let _: Option<()> = self.run(self.give_back.key(self.place(key)).arg(window)).await;
        })
    }
}

/// Where the store is, without what may be secret.
impl fmt::Display for SharedRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis://{}", self.client.get_connection_info().addr())
    }
}

impl fmt::Debug for SharedRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedRateLimiter").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Why the store gave no answer.
#[derive(Debug)]
enum Silence {
    Failed(RedisError),
    TooLong,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::TooLong => write!(f, "no answer for {PATIENCE:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use catalogue_core::{AccountId, Scopes};

    use super::*;

    fn at(address: &str) -> Result<SharedRateLimiter, String> {
        SharedRateLimiter::at(address, RateLimit::new(600, Duration::from_secs(60)).unwrap())
    }

    #[test]
    fn addresses_are_shown_without_their_secrets() {
        for (address, shown) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
            ("redis://user:hunter2@cache.example:1234/3", "redis://cache.example:1234"),
        ] {
            let limiter = at(address).unwrap();
            assert_eq!(limiter.to_string(), shown);
            assert!(!format!("{limiter:?}").contains("hunter2"));
        }
        for address in ["", "hunter2", "http://hunter2@a", "rediss://:hunter2@a", "redis://", "redis://:hunter2@a:port"]
        {
            let message = at(address).unwrap_err();
            assert!(message.contains("redis://HOST:PORT") && !message.contains("hunter2"), "{address}: {message}");
        }
    }

    #[test]
    fn every_credential_has_a_place_of_its_own() {
        let limiter = at("redis://127.0.0.1").unwrap();
        let place = |account, id| {
            let identity = Identity::api_key(AccountId::new(account), id, Scopes::default());
            limiter.place(RateLimitKey::Credential(&identity))
        };
        assert_eq!(place("acc", "key_1"), "catalogue:600/60:api-key:3:acc:key_1");
        assert_ne!(place("a:b", "c"), place("a", "b:c"));
    }
}
