//! [`Store`]: Redis, asked over one connection, and left alone while it is out of reach.

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

/// The longest that a request waits for the store.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long a store that failed is left alone before it is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// Where nobody counts: what asks whether the store is back does there what requests do.
const PROBE: &str = "catalogue:probe";

/// What a window says when one is taken: whether one was left, how many remain, for how many milliseconds, and its number.
pub(crate) type Answer = (bool, u32, u64, u64);

/// Why Redis does not count, and what would help where that is known.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct RedisUnavailable(String);

/// Redis. The first request that gets no answer begins an outage: then a task asks, and no request, until it counts again.
pub(crate) struct Store {
    pub(crate) address: RedisAddress,
    /// The connection that all share, and its number. Who connects locks it, so that the others wait for that connection.
    kept: RwLock<(u64, Option<MultiplexedConnection>)>,
    take: Script,
    give_back: Script,
    is_away: AtomicBool,
    /// Requests that went on without being counted, since the start.
    pub(crate) uncounted: Arc<AtomicU64>,
}

impl Store {
    /// Nothing is asked there yet.
    pub(crate) fn new(address: RedisAddress) -> Arc<Self> {
        Arc::new(Self {
            address,
            kept: RwLock::default(),
            take: Script::new(include_str!("take.lua")),
            give_back: Script::new(include_str!("give_back.lua")),
            is_away: AtomicBool::new(false),
            uncounted: Arc::default(),
        })
    }

    /// Takes one of so many requests in a window of that length; `None` where the store does not answer.
    pub(crate) async fn take(self: &Arc<Self>, place: String, requests: u32, window: Duration) -> Option<Answer> {
        let mut script = self.take.key(place);
        self.run(script.arg(requests).arg(window.as_millis() as u64)).await
    }

    /// Gives one back to that window.
    pub(crate) async fn give_back(self: &Arc<Self>, place: String, window: u64) {
        // What is not given back is back when the window ends.
        let _: Option<()> = self.run(self.give_back.key(place).arg(window)).await;
    }

    /// Whether the store counts, or why it does not and what would help.
    pub(crate) async fn check(&self) -> Result<(), RedisUnavailable> {
        let mut script = self.take.key(PROBE);
        let answer = self.ask::<Answer>(script.arg(1).arg(1)).await;
        answer.map(drop).map_err(|error| match advice(&error) {
            Some(advice) => RedisUnavailable(format!("{error}; {advice}")),
            None => RedisUnavailable(error.to_string()),
        })
    }

    /// Asks before any request does, so that an outage is told in the log at once.
    pub(crate) async fn look(self: &Arc<Self>) {
        let mut script = self.take.key(PROBE);
        let _: Option<Answer> = self.run(script.arg(1).arg(1)).await;
    }

    async fn run<T: FromRedisValue>(self: &Arc<Self>, script: &ScriptInvocation<'_>) -> Option<T> {
        if self.is_away.load(Ordering::Relaxed) {
            return None;
        }
        let error = match self.ask(script).await {
            Ok(answer) => return Some(answer),
            Err(error) => error,
        };
        // Of many who get no answer, one begins the outage.
        if !self.is_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "the store of the rate limit is out of reach; nothing is limited meanwhile");
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        None
    }

    async fn ask<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, RedisError> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {PATIENCE:?}"));
        timeout(PATIENCE, self.invoke(script)).await.map_err(late)?
    }

    /// A connection may have ended while nobody used it, as the store was started anew: then another one is made.
    async fn invoke<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Result<T, RedisError> {
        let (number, kept) = self.kept.read().await.clone();
        if let Some(mut connection) = kept {
            match script.invoke_async(&mut connection).await {
                Err(error) if error.is_unrecoverable_error() => {}
                answer => return answer,
            }
        }
        script.invoke_async(&mut self.connect(number).await?).await
    }

    /// A connection that comes after that number.
    async fn connect(&self, number: u64) -> Result<MultiplexedConnection, RedisError> {
        let mut kept = self.kept.write().await;
        if let (newer, Some(connection)) = &*kept
            && *newer > number
        {
            return Ok(connection.clone());
        }
        let config = AsyncConnectionConfig::new();
        let config = config.set_connection_timeout(Some(PATIENCE)).set_response_timeout(Some(PATIENCE));
        let connection = self.address.0.get_multiplexed_async_connection_with_config(&config).await?;
        *kept = (kept.0 + 1, Some(connection.clone()));
        Ok(connection)
    }
}

/// Asks after each pause, over a new connection, whether the store counts again, until it does.
async fn watch(store: Weak<Store>) {
    while let Some(failed) = store.upgrade() {
        failed.kept.write().await.1 = None;
        drop(failed);
        sleep(PAUSE).await;
        let Some(store) = store.upgrade() else { return };
        if store.check().await.is_ok() {
            store.is_away.store(false, Ordering::Relaxed);
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

/// What would help, where that is known.
fn advice(error: &RedisError) -> Option<&'static str> {
    const PASSWORD: &str = "write the user and password that Redis knows into its address";
    match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => Some(PASSWORD),
        (_, Some("NOPERM")) => Some("let this user run scripts on keys that begin with catalogue:"),
        (ErrorKind::Io, _) => Some("start Redis or let it be reached"),
        // It answers, and says itself what is wrong.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who asked may be gone at any await, and the outage would never end if the task began behind one.
    #[tokio::test]
    async fn an_outage_is_watched_though_the_connection_is_held() {
        let store = Store::new(RedisAddress::parse("redis://127.0.0.1:1").unwrap());
        let _held = store.kept.read().await;
        timeout(Duration::from_secs(20), store.look()).await.unwrap();
        assert!(store.is_away.load(Ordering::Relaxed));
        assert_eq!(Arc::weak_count(&store), 1);
    }
}
