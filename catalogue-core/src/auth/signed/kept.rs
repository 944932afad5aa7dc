//! [`KeptTokens`]: tokens that were verified before (decision O28).

use quick_cache::sync::Cache;

use super::key_set::{KeyId, KeySet};
use crate::model::{Identity, TokenDigest};
use crate::timestamp::Timestamp;

/// Verified tokens, up to a number. Refused ones are not kept.
pub(super) type KeptTokens = Cache<TokenDigest, KeptToken>;

/// What is known of a token whose signature was verified and whose claims are right.
#[derive(Clone, Debug)]
pub(super) struct KeptToken {
    pub(super) identity: Identity,
    pub(super) expires: Timestamp,
    /// The key that verified it.
    pub(super) key: KeyId,
}

impl KeptToken {
    /// Whether it still counts: before its end, and while the issuer has the key.
    pub(super) fn counts(&self, now: Timestamp, keys: &KeySet) -> bool {
        now < self.expires && keys.has(self.key)
    }
}
