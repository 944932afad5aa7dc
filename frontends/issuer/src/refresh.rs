//! [`keep_fetching`]: the task that keeps an issuer's keys fresh.

use std::time::Duration;

use catalogue_core::auth::signed::SignedTokens;

/// Fetches the keys of these tokens when they are due, and at least once in `most`. It never ends: spawn it.
pub async fn keep_fetching(tokens: SignedTokens, most: Duration) {
    loop {
        tokio::time::sleep(tokens.refresh().await.min(most)).await;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// A file is read more often than the core would fetch.
    #[tokio::test]
    async fn keys_are_fetched_again_after_that_time_at_most() {
        // The key of RFC 8037, appendix A.2.
        let set = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
        let tokens = SignedTokens::builder("i", "a", Bytes::from(set)).build().unwrap();
        let task = tokio::spawn(keep_fetching(tokens.clone(), Duration::ZERO));
        while tokens.keys().fetched < 3 {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
}
