//! Flaws of revoked signed tokens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use catalogue_core::Timestamp;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::MemoryStorage;

use crate::broken::{Broken, credential, is_revoked, remove_account, revoke_tokens};
use crate::flaws;

type Known = Arc<Mutex<HashMap<TokenDigest, bool>>>;

/// Look-ups that are remembered.
fn remembered() -> Broken {
    let known = Known::default();
    Broken::new().revoked(move |memory, digest| {
        let mut known = known.lock().unwrap();
        Some(*known.entry(*digest).or_insert_with(|| is_revoked(memory, digest).unwrap()))
    })
}

/// Tokens that are known by a part of their digest.
fn by_part_of_the_digest(part: fn(&TokenDigest) -> &[u8]) -> Broken {
    let stored: Arc<Mutex<Vec<TokenDigest>>> = Arc::default();
    let all = Arc::clone(&stored);
    Broken::new()
        .revoke_tokens(move |_, digests, _, _| {
            stored.lock().unwrap().extend(digests);
            Ok(())
        })
        .revoked(move |_, digest| Some(all.lock().unwrap().iter().any(|stored| part(stored) == part(digest))))
}

/// Revocations with something done to the call.
fn revoked(call: impl Fn(&MemoryStorage, &[TokenDigest], Timestamp, Timestamp) + Send + Sync + 'static) -> Broken {
    Broken::new().revoke_tokens(move |memory, digests, expires_at, at| {
        call(memory, digests, expires_at, at);
        Ok(())
    })
}

/// Accounts that take all revocations with them.
fn gone_with_an_account() -> Broken {
    let gone = Known::default();
    let are_gone = Arc::clone(&gone);
    Broken::new()
        .remove_account(move |memory, account| {
            gone.lock().unwrap().insert(TokenDigest::from_bytes([0; 32]), true);
            remove_account(memory, account)
        })
        .revoked(move |memory, digest| is_revoked(memory, digest).map(|is| is && are_gone.lock().unwrap().is_empty()))
}

flaws! {
    look_ups_remembered: remembered()
        => credentials::revocations::revocation_applies_from_next_lookup, "from the next look-up on";
    all_revoked: Broken::new().revoked(|_, _| Some(true))
        => credentials::revocations::revocation_applies_from_next_lookup, "nobody has revoked";
    none_revoked: Broken::new().revoked(|_, _| Some(false))
        => credentials::revocations::revocation_applies_from_next_lookup, "from the next look-up on";
    by_the_first_byte: by_part_of_the_digest(|digest| &digest.as_bytes()[..1])
        => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "by its whole digest";
    by_the_last_byte: by_part_of_the_digest(|digest| &digest.as_bytes()[31..])
        => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "by its whole digest";
    credentials_count_as_revoked: Broken::new().revoked(|memory, digest| {
        is_revoked(memory, digest).map(|is| is || credential(memory, digest).is_some())
    }) => credentials::revocations::revoked_token_is_found_only_by_whole_digest, "no revocation";

    the_first_of_a_call_alone: revoked(|memory, digests, expires_at, at| {
        revoke_tokens(memory, &digests[..1], expires_at, at).unwrap();
    }) => administration::token_revocations::all_tokens_of_call_are_revoked, "Each token of a call";
    revoked_ones_are_refused: Broken::new().revoke_tokens(|memory, digests, expires_at, at| {
        let exists = digests.iter().any(|digest| is_revoked(memory, digest) == Some(true));
        let kind = catalogue_core::storage::StorageErrorKind::AlreadyExists;
        if exists { Err(catalogue_core::storage::StorageError::new(kind, "there")) } else { revoke_tokens(memory, digests, expires_at, at) }
    }) => administration::token_revocations::all_tokens_of_call_are_revoked, "revoked already";
    none_kept_and_revoked_all_the_same: Broken::new().revoked(|_, _| None)
        => administration::token_revocations::all_tokens_of_call_are_revoked, "keeps no revocations says so";
    gone_with_the_expiry: revoked(|memory, digests, expires_at, at| {
        let day = std::time::Duration::from_secs(24 * 60 * 60);
        revoke_tokens(memory, digests, expires_at, at.checked_add(day).unwrap()).unwrap();
    }) => administration::token_revocations::revocation_is_retained_for_a_day_after_expiry, "for a day after";
    kept_for_ever: revoked(|memory, digests, expires_at, _| {
        revoke_tokens(memory, digests, expires_at, Timestamp::MIN).unwrap();
    }) => administration::token_revocations::later_revocations_remove_those_past_retention, "goes with later revocations";
    the_expiry_forgotten: revoked(|memory, digests, _, at| {
        revoke_tokens(memory, digests, Timestamp::MIN, at).unwrap();
    }) => administration::token_revocations::revocation_is_retained_for_a_day_after_expiry, "for a day after";
    gone_with_any_account: gone_with_an_account()
        => administration::token_revocations::removing_account_leaves_revocations, "stays revoked";
}
