//! Revisions that stand for a state of the whole file.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use catalogue_core::AccountId;
use catalogue_core::storage::Revision;

use crate::readers::Version;

/// Returns the account's revision in the state `version` of the file. A state that returns after another one has a new version,
/// so no revision stands for two states. The hash keys are random, so no other process or account gets the same revision.
pub(super) fn file_revision(version: Version, account: &AccountId) -> Revision {
    static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

    let [first, second] = KEYS.each_ref().map(|key| u128::from(key.hash_one((version, account.as_str()))));
    Revision::from_bytes((first << 64 | second).to_be_bytes())
}
