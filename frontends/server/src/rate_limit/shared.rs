//! [`SharedRateLimiter`]: several servers count together, in Redis.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use catalogue_core::limit::{LimiterFuture, RateLimit, RateLimitKey, RateLimiter, Taken};
use redis::Client;

use super::store::Store;

const RIGHT: &str = "write redis://HOST:PORT, like redis://127.0.0.1:6379";

/// Counts in Redis, in a round trip for each time that something is taken or given back: most requests take once, a 304
/// gives back too, and a good token that this server has not met yet takes from the address, gives that back, and takes
/// as itself. While Redis does not answer, requests go on without being counted.
#[derive(Debug)]
pub(super) struct SharedRateLimiter {
    pub(super) limit: RateLimit,
    pub(super) store: Arc<Store>,
}

impl SharedRateLimiter {
    /// Where the windows of a key are. Servers with another limit count elsewhere.
    fn place(&self, key: RateLimitKey<'_>) -> String {
        let (requests, seconds) = (self.limit.requests(), self.limit.window().as_secs());
        match key {
            RateLimitKey::Credential(caller) => {
                let (account, kind, id) = (caller.account.as_str(), caller.kind.name(), caller.counted_as());
                // With its length, so that no account's text runs into a credential's.
                format!("catalogue:{requests}/{seconds}:{kind}:{}:{account}:{id}", account.len())
            }
            RateLimitKey::UnknownTokens(address) => format!("catalogue:{requests}/{seconds}:address:{address}"),
            RateLimitKey::SignIn(address) => format!("catalogue:{requests}/{seconds}:sign-in:{address}"),
            RateLimitKey::Change(account) => format!("catalogue:{requests}/{seconds}:change:{account}"),
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
            let taken = self.store.take(self.place(key), self.limit.requests(), self.limit.window()).await;
            let Some((granted, remaining, milliseconds, window)) = taken else {
                self.store.uncounted.fetch_add(1, Ordering::Relaxed);
                return Taken::Uncounted;
            };
            let resets_in = Duration::from_millis(milliseconds);
            if granted { Taken::Granted { remaining, resets_in, window } } else { Taken::Refused { resets_in } }
        })
    }

    fn give_back<'l>(&'l self, key: RateLimitKey<'l>, window: u64) -> LimiterFuture<'l, ()> {
        LimiterFuture::later(self.store.give_back(self.place(key), window))
    }
}

/// Reads an address. No message repeats it: it may hold a password.
pub(crate) fn client(address: &str) -> Result<Client, String> {
    if !address.starts_with("redis://") {
        return Err(format!("the store of the rate limit is Redis without TLS; {RIGHT}"));
    }
    Client::open(address).map_err(|_| format!("the address of the store cannot be read; {RIGHT}"))
}

#[cfg(test)]
mod tests {
    use catalogue_core::AccountId;
    use catalogue_core::auth::{Identity, Issued, NewToken, Scopes};

    use super::*;

    #[test]
    fn addresses_are_shown_without_their_secrets() {
        for (address, shown) in [
            ("redis://127.0.0.1", "redis://127.0.0.1:6379"),
            ("redis://user:hunter2@cache.example:1234/3", "redis://cache.example:1234"),
        ] {
            let store = Store::new(client(address).unwrap());
            assert_eq!(store.to_string(), shown);
            assert!(!format!("{store:?}").contains("hunter2"));
        }
        for address in ["", "hunter2", "http://hunter2@a", "rediss://:hunter2@a", "redis://", "redis://:hunter2@a:port"]
        {
            let message = client(address).unwrap_err();
            assert!(message.contains("redis://HOST:PORT") && !message.contains("hunter2"), "{address}: {message}");
        }
    }

    #[test]
    fn every_credential_has_a_place_of_its_own() {
        let store = Store::new(client("redis://127.0.0.1").unwrap());
        let limiter = SharedRateLimiter { limit: RateLimit::new(600, Duration::from_secs(60)).unwrap(), store };
        let place = |account, id| {
            let identity = Identity::api_key(AccountId::new(account), id, Scopes::default());
            limiter.place(RateLimitKey::Credential(&identity))
        };
        assert_eq!(place("acc", "key_1"), "catalogue:600/60:api-key:3:acc:key_1");
        assert_ne!(place("a:b", "c"), place("a", "b:c"));
        // A client of an issuer has one place for all its tokens (decision O20).
        let signed = || {
            let digest = NewToken::mint(catalogue_core::auth::CredentialKind::OAuth).digest();
            let issued = Issued::new("https://id.example.com", Some("partner".into()));
            let identity = Identity::issued(AccountId::new("acc"), &digest, Scopes::default(), issued);
            limiter.place(RateLimitKey::Credential(&identity))
        };
        assert_eq!(signed(), signed());
        assert!(signed().starts_with("catalogue:600/60:oauth:3:acc:client:"));
    }
}
