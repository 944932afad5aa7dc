//! Flaws of sign-in links and sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{Actor, CredentialAction, NewSession, NewSignIn, Session, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{
    Broken, begin, create_link, end_session, events, exchange, now, remove_account, session, sign_out,
};
use crate::flaws;

/// A digest of which a byte counts for nothing.
fn without(byte: usize) -> impl Fn(&TokenDigest) -> TokenDigest + Copy + Send + Sync + 'static {
    move |digest| {
        let mut bytes = *digest.as_bytes();
        bytes[byte] = 0;
        TokenDigest::from_bytes(bytes)
    }
}

/// Sessions with something done to each that is found.
fn altering_session(alter: impl Fn(&mut Session) + Send + Sync + 'static) -> Broken {
    Broken::new().session(move |memory, digest| {
        let mut found = session(memory, digest)?;
        alter(&mut found);
        Some(found)
    })
}

/// What was found once is found for ever.
fn remembering() -> Broken {
    let known: Mutex<HashMap<TokenDigest, Session>> = Mutex::default();
    Broken::new().session(move |memory, digest| {
        let found = session(memory, digest);
        let mut known = known.lock().unwrap();
        known.extend(found.clone().map(|found| (*digest, found)));
        found.or_else(|| known.get(digest).cloned())
    })
}

/// What is over when somebody makes a link goes, whoever has it.
fn over_for_all() -> Broken {
    let latest = Arc::new(Mutex::new(Timestamp::MIN));
    let over = Arc::clone(&latest);
    Broken::new()
        .create_link(move |memory, link, by| {
            let mut latest = latest.lock().unwrap();
            *latest = link.created_at.max(*latest);
            create_link(memory, link, by)
        })
        .session(move |memory, digest| session(memory, digest).filter(|found| !found.is_expired(*over.lock().unwrap())))
}

/// Links that are exchanged as often as one likes.
fn exchanged_again() -> Broken {
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

/// Sessions whose beginning is forgotten: beyond the limit any of them goes.
fn without_their_beginning() -> Broken {
    Broken::new().exchange(|memory, link, at, new| {
        exchange(memory, link, at, &NewSession { created_at: Timestamp::MIN, ..new.clone() })
    })
}

/// Links that are there again for whoever has their code.
fn links_outlive() -> Broken {
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
    accounts_made_for_links: Broken::new().create_link(|memory, link, by| {
        let mut import = begin(memory)?;
        let account = Account { id: link.account.clone(), name: String::new(), email: String::new() };
        now(import.put_account(&account))?;
        now(import.commit())?;
        create_link(memory, link, by)
    }) => sign_ins::links::link_of_unknown_account_is_refused, "UnknownReference";
    links_taken_in_silence: Broken::new().create_link(|memory, link, by| match create_link(memory, link, by) {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }) => sign_ins::links::existing_link_is_refused, "AlreadyExists";
    links_without_the_first_byte: {
        let part = without(0);
        Broken::new()
            .create_link(move |memory, link, by| {
                create_link(memory, &NewSignIn { digest: part(&link.digest), ..link.clone() }, by)
            })
            .exchange(move |memory, link, at, new| exchange(memory, &part(link), at, new))
    } => sign_ins::links::link_is_found_only_by_whole_digest, "by its whole digest";
    links_without_the_last_byte: {
        let part = without(31);
        Broken::new()
            .create_link(move |memory, link, by| {
                create_link(memory, &NewSignIn { digest: part(&link.digest), ..link.clone() }, by)
            })
            .exchange(move |memory, link, at, new| exchange(memory, &part(link), at, new))
    } => sign_ins::links::link_is_found_only_by_whole_digest, "by its whole digest";
    nothing_goes_with_a_link: remembering()
        => sign_ins::links::creating_a_link_purges_expired_sessions, "are over";
    what_is_over_goes_at_once: over_for_all()
        => sign_ins::links::creating_a_link_purges_expired_sessions, "of others after a day";

    exchanged_as_often_as_one_likes: exchanged_again()
        => sign_ins::link_exchange::link_is_exchanged_once, "is exchanged once";
    exchanged_for_an_id: Broken::new().exchange(|memory, link, at, new| {
        exchange(memory, link, at, new).map(|account| Account { email: String::new(), ..account })
    }) => sign_ins::link_exchange::link_is_exchanged_once, "with name and email";
    links_without_an_end: Broken::new().exchange(|memory, link, _, new| exchange(memory, link, Timestamp::MIN, new))
        => sign_ins::link_exchange::expired_or_unknown_link_returns_none, "over or unknown is None";
    links_good_at_their_end: Broken::new().exchange(|memory, link, at, new| {
        let before = Timestamp::from_microseconds(at.as_microseconds() - 1)?;
        exchange(memory, link, before, new)
    }) => sign_ins::link_exchange::expired_or_unknown_link_returns_none, "at-its-end";
    the_beginning_of_the_session_decides: Broken::new().exchange(|memory, link, _, new| {
        exchange(memory, link, new.created_at, new)
    }) => sign_ins::link_exchange::expiry_is_checked_at_time_of_call, "the instant that the call names";
    links_ended_like_sessions: Broken::new().end_session(|memory, digest| {
        let created_at = Timestamp::MIN;
        let spent = NewSession { digest: TokenDigest::from_bytes([9; 32]), created_at, expires_at: created_at };
        exchange(memory, digest, created_at, &spent);
        end_session(memory, &spent.digest);
        end_session(memory, digest);
    }) => sign_ins::link_exchange::links_and_sessions_are_not_interchangeable, "not ended like one";

    ended_sessions_hidden: Broken::new().session(|memory, digest| {
        session(memory, digest).filter(|found| !found.is_expired(Timestamp::now()))
    }) => sign_ins::sessions::session_is_found_with_account_and_expiry, "over or not";
    sessions_of_an_id: altering_session(|session| session.account.name.clear())
        => sign_ins::sessions::session_is_found_with_account_and_expiry, "with account and end";
    ends_in_milliseconds: altering_session(|session| {
        let cut = session.expires_at.as_microseconds().div_euclid(1_000) * 1_000;
        session.expires_at = Timestamp::from_microseconds(cut).unwrap();
    }) => sign_ins::sessions::session_is_found_with_account_and_expiry, "with account and end";
    sessions_without_the_last_byte: {
        let part = without(31);
        Broken::new()
            .exchange(move |memory, link, at, new| {
                exchange(memory, link, at, &NewSession { digest: part(&new.digest), ..new.clone() })
            })
            .session(move |memory, digest| session(memory, &part(digest)))
    } => sign_ins::sessions::session_is_found_only_by_whole_digest, "by its whole digest";
    as_many_sessions_as_one_likes: remembering()
        => sign_ins::sessions::oldest_session_is_removed_beyond_limit, "the oldest go";
    any_session_goes: without_their_beginning()
        => sign_ins::sessions::oldest_session_is_removed_beyond_limit, "the oldest go";

    sessions_that_do_not_end: Broken::new().end_session(|_, _| ())
        => sign_ins::sign_out::ended_session_is_not_found, "that was ended is gone";
    all_sessions_ended_with_one: Broken::new().end_session(|memory, digest| {
        if let Some(found) = session(memory, digest) {
            sign_out(memory, &found.account.id, &Actor::OWNER);
        }
    }) => sign_ins::sign_out::ended_session_is_not_found, "no other is";
    ended_and_not_counted: Broken::new().sign_out(|memory, account, by| sign_out(memory, account, by).min(1))
        => sign_ins::sign_out::signing_out_ends_links_and_sessions, "are counted";
    signed_out_regardless_of_case: Broken::new().sign_out(|memory, account, by| {
        let ended = sign_out(memory, account, by);
        sign_out(memory, &AccountId::new(account.as_str().to_uppercase()), by);
        ended
    }) => sign_ins::sign_out::signing_out_ends_links_and_sessions, "those of no other";
    links_left_behind: links_outlive()
        => sign_ins::sign_out::signing_out_ends_links_and_sessions, "links of the account are ended too";
    sessions_that_outlive_their_account: remembering()
        => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "sessions of a removed account";
    links_that_outlive_their_account: links_outlive()
        => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "no link of the one before";
    the_others_removed_too: Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        sign_out(memory, &AccountId::new("b"), &Actor::OPERATOR);
        Some(removed)
    }) => sign_ins::sign_out::sign_ins_are_removed_with_their_account, "sessions of a removed account";

    everybody_an_operator: Broken::new().events(|memory, account, most| {
        let mut all = events(memory, account, most);
        all.iter_mut().for_each(|event| event.actor = Actor::OPERATOR);
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "by whom";
    ends_not_logged: Broken::new().events(|memory, account, most| {
        let mut all = events(memory, account, most);
        all.retain(|event| event.action != CredentialAction::SignedOut);
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "one event";
    signed_in_at_the_clock: Broken::new().events(|memory, account, most| {
        let mut all = events(memory, account, most);
        all.iter_mut().for_each(|event| event.at = Timestamp::now());
        all
    }) => sign_ins::sign_in_events::each_change_records_one_event, "the time that its call names";
    ends_of_nothing_logged: Broken::new().sign_out(|memory, account, by| {
        let digest = TokenDigest::from_bytes([9; 32]);
        let link = NewSignIn { digest, account: account.clone(), created_at: Timestamp::MIN, expires_at: Timestamp::MAX };
        let _ = create_link(memory, &link, by);
        sign_out(memory, account, by).saturating_sub(1)
    }) => sign_ins::sign_in_events::calls_without_change_record_no_event, "where there are none";
    late_exchanges_logged: Broken::new().exchange(|memory, link, at, new| {
        let exchanged = exchange(memory, link, at, new);
        if exchanged.is_none() {
            let digest = TokenDigest::from_bytes([9; 32]);
            let account = AccountId::new("a");
            let _ = create_link(memory, &NewSignIn { digest, account, created_at: at, expires_at: at }, &Actor::OWNER);
        }
        exchanged
    }) => sign_ins::sign_in_events::calls_without_change_record_no_event, "over or unknown";
}
