//! Flaws of sign-in links and sessions.

use std::sync::Mutex;

use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, NewSession, NewSignIn, SignInStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{Broken, Cache, account, put, run};
use crate::flaws;

/// Returns a digest without one of its bytes.
fn without_byte(digest: &TokenDigest, byte: usize) -> TokenDigest {
    let mut bytes = *digest.as_bytes();
    bytes[byte] = 0;
    TokenDigest::from_bytes(bytes)
}

/// Ignores a byte of the digests of links and sessions.
fn ignoring_byte(byte: usize) -> Broken {
    Broken::new()
        .create_link(move |memory, link, by| {
            run(memory.create_link(&NewSignIn { digest: without_byte(&link.digest, byte), ..link.clone() }, by))
        })
        .exchange_link(move |memory, link, now, new| {
            let new = NewSession { digest: without_byte(&new.digest, byte), ..new.clone() };
            run(memory.exchange_link(&without_byte(link, byte), now, &new))
        })
        .find_session(move |memory, digest| run(memory.find_session(&without_byte(digest, byte))))
}

/// Retains links: recreates one that no longer exists when it is exchanged.
fn retaining_links() -> Broken {
    let links = std::sync::Arc::new(Mutex::new(Vec::<NewSignIn>::new()));
    let retained = links.clone();
    Broken::new()
        .create_link(move |memory, link, by| {
            links.lock().unwrap().push(link.clone());
            run(memory.create_link(link, by))
        })
        .exchange_link(move |memory, link, now, new| {
            let retained = retained.lock().unwrap();
            if let Some(link) = retained.iter().find(|retained| retained.digest == *link) {
                let _ = run(memory.create_link(link, &Actor::OPERATOR));
            }
            run(memory.exchange_link(link, now, new))
        })
}

flaws! {
    link_adds_missing_account: Broken::new().create_link(|memory, link, by| {
        put(memory, Some(&account(&link.account)), &[])?;
        run(memory.create_link(link, by))
    }) => links { link_of_unknown_account_is_refused };
    existing_link_is_accepted: Broken::new().create_link(|memory, link, by| match run(memory.create_link(link, by)) {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }) => links { existing_link_is_refused };
    digests_are_compared_without_last_byte: ignoring_byte(31)
        => links { link_is_found_only_by_whole_digest } sessions { session_is_found_only_by_whole_digest };
    link_has_no_creation_time: Broken::new().create_link(|memory, link, by| {
        run(memory.create_link(&NewSignIn { created_at: Timestamp::MIN, ..link.clone() }, by))
    }) => links { creating_a_link_purges_expired_sessions }
        sign_in_events { each_change_records_one_event creating_a_link_removes_old_events };
    links_are_retained: retaining_links()
        => links { link_is_exchanged_once }
        sessions { signing_out_ends_links_and_sessions sign_ins_are_removed_with_their_account };
    links_never_expire: Broken::new().exchange_link(|memory, link, _, new| {
        run(memory.exchange_link(link, Timestamp::MIN, new))
    }) => links { expired_or_unknown_link_returns_none };
    expiry_is_checked_at_start_of_session: Broken::new().exchange_link(|memory, link, _, new| {
        run(memory.exchange_link(link, new.created_at, new))
    }) => links { expired_or_unknown_link_returns_none };
    link_is_ended_like_session: Broken::new().end_session(|memory, digest| {
        let created_at = Timestamp::MIN;
        let ended = NewSession { digest: TokenDigest::from_bytes([9; 32]), created_at, expires_at: created_at };
        run(memory.exchange_link(digest, created_at, &ended))?;
        run(memory.end_session(digest))
    }) => links { links_and_sessions_are_not_interchangeable };

    sessions_are_retained: {
        let sessions = Cache::new();
        Broken::new().find_session(move |memory, digest| {
            Ok(sessions.last(digest, run(memory.find_session(digest))?))
        })
    } => links { creating_a_link_purges_expired_sessions } sessions { oldest_session_is_removed_beyond_limit }
        sessions { ended_session_is_not_found sign_ins_are_removed_with_their_account };
    expired_session_is_not_found: Broken::new().session(|found| {
        found.take_if(|found| found.is_expired(Timestamp::now()));
    }) => sessions { session_is_found_with_account_and_expiry };
    refused_exchange_is_logged: Broken::new().exchange_link(|memory, link, now, new| {
        let exchanged = run(memory.exchange_link(link, now, new))?;
        if exchanged.is_none() {
            let link = NewSignIn { digest: new.digest, account: AccountId::new("a"), created_at: now, expires_at: now };
            let _ = run(memory.create_link(&link, &Actor::OWNER));
        }
        Ok(exchanged)
    }) => sign_in_events { calls_without_change_record_no_event };
}
