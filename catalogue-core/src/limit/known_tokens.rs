//! [`KnownTokens`]: which tokens were good not long ago.

use std::fmt;

use quick_cache::sync::Cache;

use super::fingerprint::{Fingerprint, Fingerprints};
use crate::auth::BearerToken;

/// How many tokens are remembered.
const CAPACITY: usize = 1 << 16;

/// Tokens that were accepted and not refused since, up to a number. Only who holds a good token gets one in.
///
/// It grants nothing: a token that is known is looked up like any other. It is only not counted as unknown before.
pub(super) struct KnownTokens {
    fingerprints: Fingerprints,
    tokens: Cache<Fingerprint, ()>,
}

impl KnownTokens {
    pub(super) fn new() -> Self {
        Self { fingerprints: Fingerprints::default(), tokens: Cache::new(CAPACITY) }
    }

    pub(super) fn fingerprint(&self, token: BearerToken<'_>) -> Fingerprint {
        self.fingerprints.of(token.expose())
    }

    pub(super) fn contains(&self, token: Fingerprint) -> bool {
        self.tokens.get(&token).is_some()
    }

    pub(super) fn insert(&self, token: Fingerprint) {
        self.tokens.insert(token, ());
    }

    pub(super) fn remove(&self, token: Fingerprint) {
        self.tokens.remove(&token);
    }
}

impl fmt::Debug for KnownTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownTokens(..)")
    }
}
