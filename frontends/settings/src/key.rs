//! The state of a key, and what its owner should look at.

use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::admin::CredentialRecord;

use crate::input::DAY;

/// Whether a key holds; the same words as in the list of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Valid,
    /// It was rotated and still holds.
    Ending,
    Expired,
    Revoked,
}

impl State {
    pub(crate) fn of(key: &CredentialRecord, now: Timestamp) -> Self {
        match key {
            _ if key.revoked_at.is_some() => Self::Revoked,
            _ if key.expires_at.is_some_and(|end| end <= now) => Self::Expired,
            _ if key.replaced_by.is_some() => Self::Ending,
            _ => Self::Valid,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Ending => "ending",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }

    pub(crate) const fn holds(self) -> bool {
        matches!(self, Self::Valid | Self::Ending)
    }
}

/// What the owner should look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    EndsSoon,
    Unused,
    NeverUsed,
    NeverEnds,
    StillUsed,
    SuccessorUnused,
}

impl Hint {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::EndsSoon => "ends_soon",
            Self::Unused => "unused",
            Self::NeverUsed => "never_used",
            Self::NeverEnds => "never_ends",
            Self::StillUsed => "still_used",
            Self::SuccessorUnused => "successor_unused",
        }
    }
}

/// The hints of one of `keys`.
pub(crate) fn hints(key: &CredentialRecord, keys: &[CredentialRecord], now: Timestamp) -> Vec<Hint> {
    let state = State::of(key, now);
    if !state.holds() {
        return Vec::new();
    }
    let is_older = |time: Timestamp, days: u32| time.checked_add(DAY * days).is_some_and(|end| end < now);
    let ends_within =
        |time: Duration| key.expires_at.is_some_and(|end| now.checked_add(time).is_some_and(|at| end <= at));
    let successor = key.replaced_by.as_ref().and_then(|id| keys.iter().find(|key| key.identity.credential_id == *id));
    let found = [
        // One that was rotated is to end.
        (Hint::EndsSoon, state == State::Valid && ends_within(DAY * 14)),
        (Hint::Unused, is_older(key.last_used_at.unwrap_or(key.created_at), 90)),
        (Hint::NeverUsed, key.last_used_at.is_none() && is_older(key.created_at, 7)),
        (Hint::NeverEnds, key.expires_at.is_none()),
        (Hint::StillUsed, successor.is_some_and(|new| key.last_used_at.is_some_and(|used| used > new.created_at))),
        (Hint::SuccessorUnused, successor.is_some_and(|new| new.last_used_at.is_none()) && ends_within(DAY)),
    ];
    found.into_iter().filter(|(_, holds)| *holds).map(|(hint, _)| hint).collect()
}
