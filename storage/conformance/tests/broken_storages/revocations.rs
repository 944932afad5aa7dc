//! Flaws of revoked signed tokens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::MemoryStorage;

use crate::broken::{Broken, credential, is_revoked, remove_account, revoke_tokens};
use crate::flaws;

type Known = Arc<Mutex<HashMap<TokenDigest, bool>>>;

/// Caches lookups forever.
fn caching_lookups() -> Broken {
    let known = Known::default();
    Broken::new().revoked(move |memory, digest| {
        let mut known = known.lock().unwrap();
        Some(*known.entry(*digest).or_insert_with(|| is_revoked(memory, digest).unwrap()))
    })
}

/// Finds tokens by a part of their digest.
fn comparing_part_of_digest(part: fn(&TokenDigest) -> &[u8]) -> Broken {
    let stored: Arc<Mutex<Vec<TokenDigest>>> = Arc::default();
    let all = Arc::clone(&stored);
    Broken::new()
        .revoke_tokens(move |_, digests, _, _| {
            stored.lock().unwrap().extend(digests);
            Ok(())
        })
        .revoked(move |_, digest| Some(all.lock().unwrap().iter().any(|stored| part(stored) == part(digest))))
}

/// Replaces the call that revokes.
fn revoking(call: impl Fn(&MemoryStorage, &[TokenDigest], Timestamp, Timestamp) + Send + Sync + 'static) -> Broken {
    Broken::new().revoke_tokens(move |memory, digests, expires_at, at| {
        call(memory, digests, expires_at, at);
        Ok(())
    })
}

/// Removes all revocations when an account is removed.
fn removing_with_accounts() -> Broken {
    let removed = Known::default();
    let removals = Arc::clone(&removed);
    Broken::new()
        .remove_account(move |memory, account| {
            removed.lock().unwrap().insert(TokenDigest::from_bytes([0; 32]), true);
            remove_account(memory, account)
        })
        .revoked(move |memory, digest| is_revoked(memory, digest).map(|is| is && removals.lock().unwrap().is_empty()))
}

flaws! {
    lookups_are_cached: caching_lookups()
        => credentials::revocations::revocation_applies_from_next_lookup, "from the next lookup on";
    every_token_is_revoked: Broken::new().revoked(|_, _| Some(true))
        => credentials::revocations::revocation_applies_from_next_lookup, "not revoked before its revocation";
    no_token_is_revoked: Broken::new().revoked(|_, _| Some(false))
        => credentials::revocations::revocation_applies_from_next_lookup, "from the next lookup on";
    token_is_found_by_first_byte: comparing_part_of_digest(|digest| &digest.as_bytes()[..1])
        => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "by its whole digest";
    token_is_found_by_last_byte: comparing_part_of_digest(|digest| &digest.as_bytes()[31..])
        => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "by its whole digest";
    credential_is_found_as_revocation: Broken::new().revoked(|memory, digest| {
        is_revoked(memory, digest).map(|is| is || credential(memory, digest).is_some())
    }) => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "not a revocation";

    only_first_token_of_call_is_revoked: revoking(|memory, digests, expires_at, at| {
        revoke_tokens(memory, &digests[..1], expires_at, at).unwrap();
    }) => administration::token_revocations::all_tokens_of_call_are_revoked, "Each token of a call";
    second_revocation_is_refused: Broken::new().revoke_tokens(|memory, digests, expires_at, at| {
        let exists = digests.iter().any(|digest| is_revoked(memory, digest) == Some(true));
        let kind = catalogue_core::storage::StorageErrorKind::AlreadyExists;
        if exists { Err(catalogue_core::storage::StorageError::new(kind, "there")) } else { revoke_tokens(memory, digests, expires_at, at) }
    }) => administration::token_revocations::all_tokens_of_call_are_revoked, "already revoked";
    revocation_succeeds_without_effect: Broken::new().revoked(|_, _| None)
        => administration::token_revocations::all_tokens_of_call_are_revoked, "without revocations refuses to revoke";
    revocation_ends_at_expiry: revoking(|memory, digests, expires_at, at| {
        let day = std::time::Duration::from_secs(24 * 60 * 60);
        revoke_tokens(memory, digests, expires_at, at.checked_add(day).unwrap()).unwrap();
    }) => administration::token_revocations::revocation_is_retained_for_a_day_after_expiry, "for a day after";
    revocations_are_retained_forever: revoking(|memory, digests, expires_at, _| {
        revoke_tokens(memory, digests, expires_at, Timestamp::MIN).unwrap();
    }) => administration::token_revocations::later_revocations_remove_those_past_retention, "Later revocations remove";
    revocation_ignores_expiry: revoking(|memory, digests, _, at| {
        revoke_tokens(memory, digests, Timestamp::MIN, at).unwrap();
    }) => administration::token_revocations::revocation_is_retained_for_a_day_after_expiry, "for a day after";
    account_removal_deletes_revocations: removing_with_accounts()
        => administration::token_revocations::removing_account_leaves_revocations, "stays revoked";
}
