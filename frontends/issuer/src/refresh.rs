//! [`keep_fetching`]: the task that refreshes an issuer's keys.

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::signed::SignedTokens;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Fetches the keys of `tokens` when they are due, and at least every `max_delay` (decision O24). Never returns: spawn it.
pub async fn keep_fetching(tokens: SignedTokens, max_delay: Duration) {
    keep_fetching_with_trigger(tokens, max_delay, Arc::default()).await;
}

/// Like [`keep_fetching`], but also fetches when `trigger` is notified.
pub async fn keep_fetching_with_trigger(tokens: SignedTokens, max_delay: Duration, trigger: Arc<Notify>) {
    loop {
        let pause = tokens.refresh().await.min(max_delay);
        let _ = timeout(pause, trigger.notified()).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bytes::Bytes;
    use catalogue_core::async_trait;
    use catalogue_core::auth::signed::FetchKeys;
    use catalogue_core::storage::{StorageError, StorageErrorKind};
    use tokio::time::Instant;

    use super::*;

    // The key of RFC 8037, appendix A.2.
    const SET: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

    /// Source that responds once, and is unreachable after that. Records the time of each fetch.
    #[derive(Clone, Debug, Default)]
    struct RespondsOnce(Arc<Mutex<Vec<Instant>>>);

    #[async_trait]
    impl FetchKeys for RespondsOnce {
        async fn fetch(&self) -> Result<Bytes, StorageError> {
            let mut times = self.0.lock().unwrap();
            times.push(Instant::now());
            let unreachable = || StorageError::new(StorageErrorKind::Unavailable, "unreachable");
            if times.len() == 1 { Ok(SET.into()) } else { Err(unreachable()) }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn failed_triggered_fetch_is_retried_with_backoff() {
        let (source, trigger) = (RespondsOnce::default(), Arc::<Notify>::default());
        let tokens = SignedTokens::builder("i", "a", source.clone()).build().unwrap();
        let task = tokio::spawn(keep_fetching_with_trigger(tokens.clone(), Duration::MAX, Arc::clone(&trigger)));
        while tokens.keys().fetched < 1 {
            tokio::task::yield_now().await;
        }
        trigger.notify_one();
        while tokens.keys().failed < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        task.abort();
        let times = source.0.lock().unwrap();
        let pauses: Vec<_> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
        assert_eq!(pauses, [0, 5, 10]);
    }

    /// A short `max_delay` reads a file more often than the core would fetch keys.
    #[tokio::test]
    async fn keys_are_fetched_again_after_max_delay() {
        let tokens = SignedTokens::builder("i", "a", Bytes::from(SET)).build().unwrap();
        let task = tokio::spawn(keep_fetching(tokens.clone(), Duration::ZERO));
        while tokens.keys().fetched < 3 {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
}
