//! Access tokens of an authorization server (the issuer): options, authenticators, and checks.

mod inspect;
mod options;

use std::sync::Arc;
use std::time::Duration;

use catalogue_core::auth::introspected::IntrospectedTokens;
use catalogue_core::auth::signed::SignedTokens;
use tokio::sync::Notify;

pub(crate) use inspect::{check, fetch};
pub(crate) use options::{IssuerOptions, discoverable, issuer, key_source, not_empty, url};

/// Maximum age of keys that count as fresh; older ones mean that the issuer has not responded for a while.
const STALE: Duration = Duration::from_secs(10 * 60);

/// Authenticators of an issuer's tokens.
#[derive(Clone, Debug)]
pub(crate) struct IssuerTokens {
    pub(crate) signed: SignedTokens,
    /// Token introspection, if opaque tokens are accepted.
    pub(crate) opaque: Option<Arc<IntrospectedTokens>>,
    /// Wakes the task that fetches the keys.
    pub(crate) refresh_requested: Arc<Notify>,
}

/// Describes keys that were fetched `age` ago, or never if it is `None`.
pub(crate) fn key_set_status(age: Option<Duration>) -> String {
    match age.map(|age| (age, age.as_secs() / 60)) {
        None => "no keys yet".to_owned(),
        Some((age, _)) if age <= STALE => "ok".to_owned(),
        Some((_, minutes)) if minutes < 120 => format!("stale for {minutes}m"),
        Some((_, minutes)) => format!("stale for {}h", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staleness_is_reported_in_minutes_then_hours() {
        for (seconds, expected) in [
            (0, "ok"),
            (600, "ok"),
            (601, "stale for 10m"),
            (7199, "stale for 119m"),
            (7200, "stale for 2h"),
            (90_000, "stale for 25h"),
        ] {
            assert_eq!(key_set_status(Some(Duration::from_secs(seconds))), expected);
        }
        assert_eq!(key_set_status(None), "no keys yet");
    }
}
