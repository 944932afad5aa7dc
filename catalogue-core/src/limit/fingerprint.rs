//! [`Fingerprints`]: what stands for a text of any length where only so much room is given.

use std::hash::{BuildHasher as _, Hash, RandomState};

/// 128 bits that stand for a value in this process. Under keys that nobody knows, no two values of a caller's choice have
/// the same, and nobody chooses which place one falls into.
pub(super) type Fingerprint = u128;

/// Makes fingerprints, with random keys of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: impl Hash) -> Fingerprint {
        let [high, low] = &self.0;
        Fingerprint::from(high.hash_one(&value)) << 64 | Fingerprint::from(low.hash_one(&value))
    }
}
