//! Revisions where the state of the whole file is all that is known.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use catalogue_core::AccountId;
use catalogue_core::storage::Revision;

use crate::readers::Version;

/// Returns the account's revision in that state of the file. A state that comes back after another one has a fresh version, so no
/// revision has two states. Hashes with keys that this process drew at random: no other process has it, nor another account.
pub(super) fn of_file(version: Version, account: &AccountId) -> Revision {
    static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

    let [first, second] = KEYS.each_ref().map(|key| u128::from(key.hash_one((version, account.as_str()))));
    Revision::from_bytes((first << 64 | second).to_be_bytes())
}
