//! Flaws of sign-in links and sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, CredentialAction, NewSession, NewSignIn, Session, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{
    Broken, begin, create_link, end_session, events, exchange, remove_account, run, session, sign_out,
};
use crate::flaws;

/// Returns a function that clears one byte of a digest.
fn clearing_byte(byte: usize) -> impl Fn(&TokenDigest) -> TokenDigest + Copy + Send + Sync + 'static {
    move |digest| {
        let mut bytes = *digest.as_bytes();
        bytes[byte] = 0;
        TokenDigest::from_bytes(bytes)
    }
}

/// Alters each session that is found.
fn altering_session(alter: impl Fn(&mut Session) + Send + Sync + 'static) -> Broken {
    Broken::new().session(move |memory, digest| {
        let mut found = session(memory, digest)?;
        alter(&mut found);
        Some(found)
    })
}

/// Finds each session forever after its first lookup.
fn caching_sessions() -> Broken {
    let known: Mutex<HashMap<TokenDigest, Session>> = Mutex::default();
    Broken::new().session(move |memory, digest| {
        let found = session(memory, digest);
        let mut known = known.lock().unwrap();
        known.extend(found.clone().map(|found| (*digest, found)));
        found.or_else(|| known.get(digest).cloned())
    })
}

/// Finds no session of any account that had expired when a link was created.
fn removing_expired_of_all() -> Broken {
    let latest = Arc::new(Mutex::new(Timestamp::MIN));
    let now = Arc::clone(&latest);
    Broken::new()
        .create_link(move |memory, link, by| {
            let mut latest = latest.lock().unwrap();
            *latest = link.created_at.max(*latest);
            create_link(memory, link, by)
        })
        .session(move |memory, digest| session(memory, digest).filter(|found| !found.is_expired(*now.lock().unwrap())))
}

/// Exchanges a link again: recreates it before each further exchange.
fn exchanging_repeatedly() -> Broken {
    let used: Mutex<HashMap<TokenDigest, AccountId>> = Mutex::default();
    Broken::new().exchange(move |memory, link, at, new| {
        let mut used = used.lock().unwrap();
        if let Some(account) = used.get(link) {
            let expires_at = at.checked_add(Duration::from_secs(1))?;
            let again = NewSignIn { digest: *link, account: account.clone(), created_at: at, expires_at };
            create_link(memory, &again, &Actor::OPERATOR).unwrap();
        }
        let account = exchange(memory, link, at, new)?;
        used.insert(*link, account.id.clone());
        Some(account)
    })
}

/// Stores all sessions with the same start: beyond the limit, any of them is removed.
fn ignoring_session_start() -> Broken {
    Broken::new().exchange(|memory, link, at, new| {
        exchange(memory, link, at, &NewSession { created_at: Timestamp::MIN, ..new.clone() })
    })
}

/// Retains links: recreates one that no longer exists when it is exchanged.
fn retaining_links() -> Broken {
    let made: Arc<Mutex<Vec<NewSignIn>>> = Arc::default();
    let retained = Arc::clone(&made);
    Broken::new()
        .create_link(move |memory, link, by| {
            made.lock().unwrap().push(link.clone());
            create_link(memory, link, by)
        })
        .exchange(move |memory, link, at, new| {
            exchange(memory, link, at, new).or_else(|| {
                let retained = retained.lock().unwrap();
                let old = retained.iter().find(|old| old.digest == *link)?;
                create_link(memory, old, &Actor::OPERATOR).ok()?;
                exchange(memory, link, at, new)
            })
        })
}

flaws! {
    link_adds_missing_account: Broken::new().create_link(|memory, link, by| {
        let mut import = begin(memory)?;
        let account = Account { id: link.account.clone(), name: String::new(), email: String::new() };
        run(import.put_account(&account))?;
        run(import.commit())?;
        create_link(memory, link, by)
    }) => sign_ins::links::link_of_unknown_account_is_refused, "UnknownReference";
    existing_link_is_silently_accepted: Broken::new().create_link(|memory, link, by| match create_link(memory, link, by) {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }) => sign_ins::links::existing_link_is_refused, "AlreadyExists";
    link_ignores_first_byte_of_digest: {
        let clear = clearing_byte(0);
        Broken::new()
            .create_link(move |memory, link, by| {
                create_link(memory, &NewSignIn { digest: clear(&link.digest), ..link.clone() }, by)
            })
            .exchange(move |memory, link, at, new| exchange(memory, &clear(link), at, new))
    } => sign_ins::links::link_is_found_only_by_whole_digest, "by its whole digest";
    link_ignores_last_byte_of_digest: {
        let clear = clearing_byte(31);
        Broken::new()
            .create_link(move |memory, link, by| {
                create_link(memory, &NewSignIn { digest: clear(&link.digest), ..link.clone() }, by)
            })
            .exchange(move |memory, link, at, new| exchange(memory, &clear(link), at, new))
    } => sign_ins::links::link_is_found_only_by_whole_digest, "by its whole digest";
    link_removes_no_expired_sessions: caching_sessions()
        => sign_ins::links::creating_a_link_purges_expired_sessions, "expired sessions";
    link_removes_expired_sessions_of_all_accounts: removing_expired_of_all()
        => sign_ins::links::creating_a_link_purges_expired_sessions, "others' after a day";

    link_can_be_exchanged_repeatedly: exchanging_repeatedly()
        => sign_ins::link_exchange::link_is_exchanged_once, "is exchanged once";
    exchange_returns_account_without_email: Broken::new().exchange(|memory, link, at, new| {
        exchange(memory, link, at, new).map(|account| Account { email: String::new(), ..account })
    }) => sign_ins::link_exchange::link_is_exchanged_once, "with name and email";
    links_never_expire: Broken::new().exchange(|memory, link, _, new| exchange(memory, link, Timestamp::MIN, new))
        => sign_ins::link_exchange::expired_or_unknown_link_returns_none, "expired or unknown link returns None";
    link_is_valid_at_its_end: Broken::new().exchange(|memory, link, at, new| {
        let before = Timestamp::from_microseconds(at.as_microseconds() - 1)?;
        exchange(memory, link, before, new)
    }) => sign_ins::link_exchange::expired_or_unknown_link_returns_none, "at-its-end";
    expiry_is_checked_at_start_of_session: Broken::new().exchange(|memory, link, _, new| {
        exchange(memory, link, new.created_at, new)
    }) => sign_ins::link_exchange::expiry_is_checked_at_time_of_call, "at the time of the call";
    link_is_ended_like_session: Broken::new().end_session(|memory, digest| {
        let created_at = Timestamp::MIN;
        let ended = NewSession { digest: TokenDigest::from_bytes([9; 32]), created_at, expires_at: created_at };
        exchange(memory, digest, created_at, &ended);
        end_session(memory, &ended.digest);
        end_session(memory, digest);
    }) => sign_ins::link_exchange::links_and_sessions_are_not_interchangeable, "does not end a link";

    expired_session_is_not_found: Broken::new().session(|memory, digest| {
        session(memory, digest).filter(|found| !found.is_expired(Timestamp::now()))
    }) => sign_ins::sessions::session_is_found_with_account_and_expiry, "expired or not";
    session_lacks_account_name: altering_session(|session| session.account.name.clear())
        => sign_ins::sessions::session_is_found_with_account_and_expiry, "with account and end";
    session_end_is_truncated_to_milliseconds: altering_session(|session| {
        let truncated = session.expires_at.as_microseconds().div_euclid(1_000) * 1_000;
        session.expires_at = Timestamp::from_microseconds(truncated).unwrap();
    }) => sign_ins::sessions::session_is_found_with_account_and_expiry, "with account and end";
    session_ignores_last_byte_of_digest: {
        let clear = clearing_byte(31);
        Broken::new()
            .exchange(move |memory, link, at, new| {
                exchange(memory, link, at, &NewSession { digest: clear(&new.digest), ..new.clone() })
            })
            .session(move |memory, digest| session(memory, &clear(digest)))
    } => sign_ins::sessions::session_is_found_only_by_whole_digest, "by its whole digest";
    session_count_is_unlimited: caching_sessions()
        => sign_ins::sessions::oldest_session_is_removed_beyond_limit, "oldest sessions beyond";
    newer_session_is_removed_beyond_limit: ignoring_session_start()
        => sign_ins::sessions::oldest_session_is_removed_beyond_limit, "oldest sessions beyond";

    session_does_not_end: Broken::new().end_session(|_, _| ())
        => sign_ins::sign_out::ended_session_is_not_found, "ended session is not found";
    ending_session_ends_all: Broken::new().end_session(|memory, digest| {
        if let Some(found) = session(memory, digest) {
            sign_out(memory, &found.account.id, &Actor::OWNER);
        }
    }) => sign_ins::sign_out::ended_session_is_not_found, "all others are";
    signing_out_counts_one: Broken::new().sign_out(|memory, account, by| sign_out(memory, account, by).min(1))
        => sign_ins::sign_out::signing_out_ends_links_and_sessions, "are counted";
    signing_out_ignores_case_of_account: Broken::new().sign_out(|memory, account, by| {
        let ended = sign_out(memory, account, by);
        sign_out(memory, &AccountId::new(account.as_str().to_uppercase()), by);
        ended
    }) => sign_ins::sign_out::signing_out_ends_links_and_sessions, "none of other accounts";
    signing_out_leaves_links: retaining_links()
        => sign_ins::sign_out::signing_out_ends_links_and_sessions, "links of the account are ended too";
    sessions_survive_account_removal: caching_sessions()
        => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "sessions of a removed account";
    links_survive_account_removal: retaining_links()
        => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "no link of the removed one";
    account_removal_ends_other_sessions: Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        sign_out(memory, &AccountId::new("b"), &Actor::OPERATOR);
        Some(removed)
    }) => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "sessions of a removed account";

    every_actor_is_the_operator: Broken::new().events(|memory, account, limit| {
        let mut all = events(memory, account, limit);
        all.iter_mut().for_each(|event| event.actor = Actor::OPERATOR);
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "and its actor";
    ends_are_not_logged: Broken::new().events(|memory, account, limit| {
        let mut all = events(memory, account, limit);
        all.retain(|event| event.action != CredentialAction::SignedOut);
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "one event";
    events_have_time_of_clock: Broken::new().events(|memory, account, limit| {
        let mut all = events(memory, account, limit);
        all.iter_mut().for_each(|event| event.at = Timestamp::now());
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "the time of its call";
    signing_out_without_sessions_is_logged: Broken::new().sign_out(|memory, account, by| {
        let digest = TokenDigest::from_bytes([9; 32]);
        let link = NewSignIn { digest, account: account.clone(), created_at: Timestamp::MIN, expires_at: Timestamp::MAX };
        let _ = create_link(memory, &link, by);
        sign_out(memory, account, by).saturating_sub(1)
    }) => sign_ins::sign_in_events::calls_without_change_record_no_event, "signing out without links or sessions";
    refused_exchange_is_logged: Broken::new().exchange(|memory, link, at, new| {
        let exchanged = exchange(memory, link, at, new);
        if exchanged.is_none() {
            let digest = TokenDigest::from_bytes([9; 32]);
            let account = AccountId::new("a");
            let _ = create_link(memory, &NewSignIn { digest, account, created_at: at, expires_at: at }, &Actor::OWNER);
        }
        exchanged
    }) => sign_ins::sign_in_events::calls_without_change_record_no_event, "expired or unknown";
}
