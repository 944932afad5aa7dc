//! [`Store`]: Redis over one shared connection, with a circuit breaker for outages.

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

/// Maximum time that a request waits for a reply.
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(250);

/// Delay before each probe during an outage.
const PROBE_DELAY: Duration = Duration::from_millis(500);

/// Redis key of the probes, which run `acquire.lua` like requests. No request is counted under it.
const PROBE_KEY: &str = "catalogue:probe";

/// Reply of `acquire.lua`: whether a request was left, how many remain, milliseconds until the window ends, and its end time.
pub(crate) type WindowReply = (bool, u32, u64, u64);

/// Why Redis does not count requests, with a hint if one is known.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct RedisUnavailable(String);

/// Redis with a circuit breaker: the first failed query opens it. Requests then pass uncounted until a task's probe succeeds.
pub(crate) struct Store {
    pub(crate) address: RedisAddress,
    /// The shared connection and its number. A call that connects holds the lock, so that others wait for its connection.
    shared: RwLock<(u64, Option<MultiplexedConnection>)>,
    acquire: Script,
    refund: Script,
    is_unreachable: AtomicBool,
    /// Number of calls of `RateLimiter::acquire` that were not counted since this store was created.
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

    /// Takes one of the `requests` in a window of length `window`; `None` if Redis does not count.
    pub(crate) async fn acquire(self: &Arc<Self>, key: String, requests: u32, window: Duration) -> Option<WindowReply> {
        let mut script = self.acquire.key(key);
        self.run(script.arg(requests).arg(window.as_millis() as u64)).await
    }

    /// Gives one request back to `window`.
    pub(crate) async fn refund(self: &Arc<Self>, key: String, window: u64) {
        // A failed refund is not repeated: the next window starts at zero anyway.
        let _: Option<()> = self.run(self.refund.key(key).arg(window)).await;
    }

    /// Checks whether Redis counts requests; fails with the reason, and with a hint if one is known.
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
        // Only the first of the queries that fail concurrently logs the outage and starts the task.
        if !self.is_unreachable.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "rate-limit store unreachable; requests are not limited");
            tokio::spawn(probe_until_recovery(Arc::downgrade(self)));
        }
        None
    }

    async fn query<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, RedisError> {
        let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, format!("no reply within {RESPONSE_TIMEOUT:?}"));
        timeout(RESPONSE_TIMEOUT, self.invoke(script)).await.map_err(timed_out)?
    }

    /// Runs `script`, over a new connection if there is none yet, or if it was lost, as after a restart of Redis.
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

    /// Returns the shared connection if it is newer than `number`, otherwise a new one.
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

/// Probes Redis after each [`PROBE_DELAY`], over a new connection, until it counts again.
async fn probe_until_recovery(store: Weak<Store>) {
    while let Some(failed) = store.upgrade() {
        failed.shared.write().await.1 = None;
        drop(failed);
        sleep(PROBE_DELAY).await;
        let Some(store) = store.upgrade() else { return };
        if store.check().await.is_ok() {
            store.is_unreachable.store(false, Ordering::Relaxed);
            let uncounted = store.uncounted.load(Ordering::Relaxed);
            return tracing::info!(uncounted, "rate-limit store reachable again");
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
    const PASSWORD: &str = "set the user and password in the Redis URL";
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => Some(PASSWORD),
        (_, Some("NOPERM")) => Some("allow this user to run scripts on keys that begin with catalogue:"),
        (ErrorKind::Io, _) => Some("start Redis, or check the network"),
        // Redis replied, and its error says what is wrong.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request can be dropped at any await. If `run` awaited the lock before it starts the task, the outage might never end.
    #[tokio::test]
    async fn outage_is_probed_while_connection_is_locked() {
        let store = Store::new(RedisAddress::parse("redis://127.0.0.1:1").unwrap());
        let _held = store.shared.read().await;
        timeout(Duration::from_secs(20), store.probe()).await.unwrap();
        assert!(store.is_unreachable.load(Ordering::Relaxed));
        assert_eq!(Arc::weak_count(&store), 1);
    }
}
