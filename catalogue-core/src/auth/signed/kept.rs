//! [`KeptTokens`]: tokens that were verified before (decision O28).

use super::key_set::{KeyId, KeySet};
use crate::model::{Identity, TokenDigest};
use crate::sync::Cache;
use crate::timestamp::Timestamp;

/// Verified tokens, up to a number. Refused ones are not kept.
#[derive(Debug)]
pub(super) struct KeptTokens(Cache<TokenDigest, KeptToken>);

/// What is known of a token whose signature was verified and whose claims are right.
#[derive(Clone, Debug)]
pub(super) struct KeptToken {
    pub(super) identity: Identity,
    pub(super) expires: Timestamp,
    /// The key that verified it.
    pub(super) key: KeyId,
}

impl KeptTokens {
    pub(super) fn new(most: usize) -> Self {
        Self(Cache::new(most))
    }

    pub(super) fn find(&self, digest: &TokenDigest) -> Option<KeptToken> {
        self.0.get(digest)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn keep(&self, digest: TokenDigest, token: KeptToken) {
        self.0.insert(digest, token);
    }
}

impl KeptToken {
    /// Whether it still counts: before its end, and while the issuer has the key.
    pub(super) fn counts(&self, now: Timestamp, keys: &KeySet) -> bool {
        now < self.expires && keys.has(self.key)
    }
}
