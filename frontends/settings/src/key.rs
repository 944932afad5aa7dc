//! Hints for the owner of a key.

use std::iter;
use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::admin::{CredentialRecord, CredentialState};
use serde::Serialize;

use crate::input::DAY;

/// A hint for the owner of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hint {
    EndsSoon,
    Unused,
    NeverUsed,
    StillUsed,
    SuccessorUnused,
    SuccessorEnded,
}

/// Maximum number of successors that are followed.
const MAX_SUCCESSORS: usize = 10;

/// Returns the key among `keys` that replaces `key`: the first of its successors that is active, or else the last one.
pub(crate) fn successor<'k>(
    key: &'k CredentialRecord,
    keys: &'k [CredentialRecord],
    now: Timestamp,
) -> Option<&'k CredentialRecord> {
    let next = |key: &&CredentialRecord| {
        let id = key.replaced_by.as_ref()?;
        keys.iter().find(|key| key.identity.credential_id == *id)
    };
    let chain = iter::successors(next(&key), next).take(MAX_SUCCESSORS);
    let mut last = None;
    chain.inspect(|key| last = Some(*key)).find(|key| key.state(now).is_active()).or(last)
}

/// Returns the hints for `key`, which is one of `keys`.
pub(crate) fn hints(key: &CredentialRecord, keys: &[CredentialRecord], now: Timestamp) -> Vec<Hint> {
    let state = key.state(now);
    if !state.is_active() {
        return Vec::new();
    }
    let is_older = |time: Timestamp, days: u32| time.checked_add(DAY * days).is_some_and(|end| end < now);
    let ends_within =
        |time: Duration| key.expires_at.is_some_and(|end| now.checked_add(time).is_some_and(|at| end <= at));
    // A short lifetime was chosen on purpose: its end is near only when a quarter of it is left.
    let lifetime = key.expires_at.map_or(0, |end| end.as_microseconds() - key.created_at.as_microseconds());
    let soon = (DAY * 14).min(Duration::from_micros(lifetime.unsigned_abs()) / 4);
    let successor = successor(key, keys, now);
    let active_successor = successor.filter(|new| new.state(now).is_active());
    let is_unused = key.last_used_at.is_some_and(|used| is_older(used, 90));
    let is_never_used = key.last_used_at.is_none() && is_older(key.created_at, 7);
    let found = [
        // A key that was rotated is meant to end, and one without use may end.
        (Hint::EndsSoon, state == CredentialState::Valid && ends_within(soon) && !is_unused && !is_never_used),
        (Hint::Unused, is_unused),
        (Hint::NeverUsed, is_never_used),
        (
            Hint::StillUsed,
            active_successor.is_some_and(|new| key.last_used_at.is_some_and(|used| used > new.created_at)),
        ),
        (Hint::SuccessorUnused, active_successor.is_some_and(|new| new.last_used_at.is_none()) && ends_within(DAY)),
        (Hint::SuccessorEnded, successor.is_some() && active_successor.is_none()),
    ];
    found.into_iter().filter(|(_, applies)| *applies).map(|(hint, _)| hint).collect()
}
