//! [`keep_fetching`]: the task that keeps an issuer's keys fresh.

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::signed::SignedTokens;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// How soon a fetch that failed is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// Fetches the keys of these tokens when they are due, at least once in `most`, and soon after a request's fetch has failed
/// (decision O24). It never ends: spawn it.
pub async fn keep_fetching(tokens: SignedTokens, most: Duration) {
    keep_fetching_on(tokens, most, Arc::default()).await;
}

/// The same, and at once where `asked` is notified: what fails then is tried again soon, as each other fetch of this task.
pub async fn keep_fetching_on(tokens: SignedTokens, most: Duration, asked: Arc<Notify>) {
    loop {
        let pause = tokens.refresh().await.min(most);
        wait(&tokens, pause, &asked).await;
    }
}

/// Waits that long, until it is asked, or until a request's fetch has failed since the last one succeeded: the core wakes
/// nobody, so that is looked at now and then. After a failure of the task's own, the pause is short as it is.
async fn wait(tokens: &SignedTokens, pause: Duration, asked: &Notify) {
    let (began, is_away) = (Instant::now(), tokens.last_failure().is_some());
    loop {
        let left = pause.saturating_sub(began.elapsed());
        let was_asked = timeout(left.min(RETRY), asked.notified()).await.is_ok();
        if was_asked || left <= RETRY || !is_away && tokens.last_failure().is_some() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use bytes::Bytes;
    use catalogue_core::async_trait;
    use catalogue_core::auth::signed::FetchKeys;
    use catalogue_core::auth::{Authenticator as _, BearerToken};
    use catalogue_core::storage::{StorageError, StorageErrorKind};

    use super::*;

    // The key of RFC 8037, appendix A.2.
    const SET: &str = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

    /// Answers once, and is away then. It notes when it was asked.
    #[derive(Clone, Debug, Default)]
    struct Once(Arc<Mutex<Vec<Instant>>>);

    #[async_trait]
    impl FetchKeys for Once {
        async fn fetch(&self) -> Result<Bytes, StorageError> {
            let mut asked = self.0.lock().unwrap();
            asked.push(Instant::now());
            let away = || StorageError::new(StorageErrorKind::Unavailable, "away");
            if asked.len() == 1 { Ok(SET.into()) } else { Err(away()) }
        }
    }

    /// A made-up key makes a fetch fail while the task sleeps after a success.
    #[tokio::test(start_paused = true)]
    async fn what_fails_for_a_request_is_tried_again_soon() {
        let source = Once::default();
        let tokens = SignedTokens::builder("i", "a", source.clone()).build().unwrap();
        let task = tokio::spawn(keep_fetching(tokens.clone(), Duration::MAX));
        while tokens.keys().fetched < 1 {
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_secs(101)).await;
        assert_eq!(source.0.lock().unwrap().len(), 1, "nobody asked");
        let part = |json: &str| URL_SAFE_NO_PAD.encode(json);
        let header = part(r#"{"typ":"at+jwt","alg":"EdDSA","kid":"made up"}"#);
        let token = format!("{header}.{}.{}", part(r#"{"iss":"i"}"#), part("signature"));
        tokens.authenticate(BearerToken::new(&token).unwrap()).await.unwrap_err();
        while tokens.keys().failed < 4 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        task.abort();
        let times = source.0.lock().unwrap();
        let pauses: Vec<_> = times.windows(2).map(|two| (two[1] - two[0]).as_secs()).collect();
        assert!(matches!(pauses[..], [101, 0..=5, 10, 20]), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_for_and_fails_is_tried_again_soon() {
        let (source, asked) = (Once::default(), Arc::<Notify>::default());
        let tokens = SignedTokens::builder("i", "a", source.clone()).build().unwrap();
        let task = tokio::spawn(keep_fetching_on(tokens.clone(), Duration::MAX, Arc::clone(&asked)));
        while tokens.keys().fetched < 1 {
            tokio::task::yield_now().await;
        }
        asked.notify_one();
        while tokens.keys().failed < 3 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        task.abort();
        let times = source.0.lock().unwrap();
        let pauses: Vec<_> = times.windows(2).map(|two| (two[1] - two[0]).as_secs()).collect();
        assert_eq!(pauses, [0, 5, 10]);
    }

    /// A file is read more often than the core would fetch.
    #[tokio::test]
    async fn keys_are_fetched_again_after_that_time_at_most() {
        let tokens = SignedTokens::builder("i", "a", Bytes::from(SET)).build().unwrap();
        let task = tokio::spawn(keep_fetching(tokens.clone(), Duration::ZERO));
        while tokens.keys().fetched < 3 {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
}
