//! [`Store`]: Redis over one connection, with a circuit breaker for outages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use std::{fmt, io};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, ErrorKind, FromRedisValue, RedisError, Script, ScriptInvocation};
use thiserror::Error;
use tokio::sync::RwLock;
use tokio::time::{sleep, timeout};

use crate::address::RedisAddress;

/// Maximum time that a request waits for the store.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(250);

/// Delay between two probes of a store that failed.
const PROBE_DELAY: Duration = Duration::from_millis(500);

/// Redis key that no request counts at: the recovery probe runs the same script there.
const PROBE_KEY: &str = "catalogue:probe";

/// Reply of a window: whether a request was left, how many remain, milliseconds until the window ends, and its number.
pub(crate) type WindowReply = (bool, u32, u64, u64);

/// Why Redis does not count, with a hint if there is one.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct RedisUnavailable(String);

/// Redis with a circuit breaker: the first request without a reply opens it; then only a task queries Redis, until it counts.
pub(crate) struct Store {
    pub(crate) address: RedisAddress,
    /// The shared connection and its number. A task that connects holds the lock, so that the others wait for that connection.
    shared: RwLock<(u64, Option<MultiplexedConnection>)>,
    acquire: Script,
    refund: Script,
    is_unreachable: AtomicBool,
    /// Number of requests that passed uncounted, since the start.
    pub(crate) uncounted: Arc<AtomicU64>,
}

impl Store {
    /// Creates a store. Does not connect yet.
    pub(crate) fn new(address: RedisAddress) -> Arc<Self> {
        Arc::new(Self {
            address,
            shared: RwLock::default(),
            acquire: Script::new(include_str!("acquire.lua")),
            refund: Script::new(include_str!("refund.lua")),
            is_unreachable: AtomicBool::new(false),
            uncounted: Arc::default(),
        })
    }

    /// Takes one of the `requests` in a window of length `window`; `None` if the store does not reply.
    pub(crate) async fn acquire(self: &Arc<Self>, key: String, requests: u32, window: Duration) -> Option<WindowReply> {
        let mut script = self.acquire.key(key);
        self.run(script.arg(requests).arg(window.as_millis() as u64)).await
    }

    /// Gives one request back to `window`.
    pub(crate) async fn refund(self: &Arc<Self>, key: String, window: u64) {
        // Failures are ignored: the end of the window gives the request back anyway.
        let _: Option<()> = self.run(self.refund.key(key).arg(window)).await;
    }

    /// Checks whether the store counts. Returns why it does not, with a hint if there is one.
    pub(crate) async fn check(&self) -> Result<(), RedisUnavailable> {
        let mut script = self.acquire.key(PROBE_KEY);
        let reply = self.query::<WindowReply>(script.arg(1).arg(1)).await;
        reply.map(drop).map_err(|error| match hint(&error) {
            Some(hint) => RedisUnavailable(format!("{error}; {hint}")),
            None => RedisUnavailable(error.to_string()),
        })
    }

    /// Queries Redis before the first request does, so that an outage is logged immediately.
    pub(crate) async fn probe(self: &Arc<Self>) {
        let mut script = self.acquire.key(PROBE_KEY);
        let _: Option<WindowReply> = self.run(script.arg(1).arg(1)).await;
    }

    async fn run<T: FromRedisValue>(self: &Arc<Self>, script: &ScriptInvocation<'_>) -> Option<T> {
        if self.is_unreachable.load(Ordering::Relaxed) {
            return None;
        }
        let error = match self.query(script).await {
            Ok(reply) => return Some(reply),
            Err(error) => error,
        };
        // Of the requests without a reply, only one opens the circuit breaker.
        if !self.is_unreachable.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "the store of the rate limit is out of reach; nothing is limited meanwhile");
            tokio::spawn(probe_until_recovery(Arc::downgrade(self)));
        }
        None
    }

    async fn query<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, RedisError> {
        let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {RESPONSE_TIMEOUT:?}"));
        timeout(RESPONSE_TIMEOUT, self.invoke(script)).await.map_err(timed_out)?
    }

    /// Runs `script`. A connection may have ended while it was idle, since the store was restarted: then connects again.
    async fn invoke<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, RedisError> {
        let (number, shared) = self.shared.read().await.clone();
        if let Some(mut connection) = shared {
            match script.invoke_async(&mut connection).await {
                Err(error) if error.is_unrecoverable_error() => {}
                reply => return reply,
            }
        }
        script.invoke_async(&mut self.connect(number).await?).await
    }

    /// Returns a connection that is newer than `number`.
    async fn connect(&self, number: u64) -> Result<MultiplexedConnection, RedisError> {
        let mut shared = self.shared.write().await;
        if let (newer, Some(connection)) = &*shared
            && *newer > number
        {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new();
        let config = config.set_connection_timeout(Some(RESPONSE_TIMEOUT)).set_response_timeout(Some(RESPONSE_TIMEOUT));
        let connection = self.address.0.get_multiplexed_async_connection_with_config(&config).await?;
        *shared = (shared.0 + 1, Some(connection.clone()));
        Ok(connection)
    }
}

/// Probes the store after each pause, over a new connection, until it counts again.
async fn probe_until_recovery(store: Weak<Store>) {
    while let Some(failed) = store.upgrade() {
        failed.shared.write().await.1 = None;
        drop(failed);
        sleep(PROBE_DELAY).await;
        let Some(store) = store.upgrade() else { return };
        if store.check().await.is_ok() {
            store.is_unreachable.store(false, Ordering::Relaxed);
            let uncounted = store.uncounted.load(Ordering::Relaxed);
            return tracing::info!(uncounted, "the store of the rate limit answers again");
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Returns how to fix an error, if that is known.
fn hint(error: &RedisError) -> Option<&'static str> {
    const PASSWORD: &str = "write the user and password that Redis knows into its address";
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => Some(PASSWORD),
        (_, Some("NOPERM")) => Some("let this user run scripts on keys that begin with catalogue:"),
        (ErrorKind::Io, _) => Some("start Redis or let it be reached"),
        // Redis replied, and its error says what is wrong.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The request may be dropped at any await: if the task were spawned after one, the outage might never end.
    #[tokio::test]
    async fn an_outage_is_watched_though_the_connection_is_held() {
        let store = Store::new(RedisAddress::parse("redis://127.0.0.1:1").unwrap());
        let _held = store.shared.read().await;
        timeout(Duration::from_secs(20), store.probe()).await.unwrap();
        assert!(store.is_unreachable.load(Ordering::Relaxed));
        assert_eq!(Arc::weak_count(&store), 1);
    }
}
