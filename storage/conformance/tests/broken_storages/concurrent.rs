//! Flaws that show only when calls meet.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use catalogue_core::admin::{Account, CredentialRecord};
use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseStorage, CredentialAction, MemoryStorage, Revision};
use catalogue_core::{AccountId, CourseDetail};

use crate::broken::{
    Broken, Read, begin, create, credential, events, exchange, find, keys, list, now, record, revoke, rotate, session,
};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction, WritesBackAll};

const RACE_DELAY: Duration = Duration::from_micros(300);

/// A course and its modules, each of the state that it finds.
fn in_two_statements() -> Broken {
    Broken::new().find(|memory, account, slug| {
        let course = find(memory, account, slug)?;
        sleep(RACE_DELAY);
        let modules = find(memory, account, slug)?.modules;
        Some(CourseDetail { modules, ..course })
    })
}

/// The account that asks stands in a place that all calls share.
fn sharing_the_question() -> Broken {
    let asking: Mutex<Option<AccountId>> = Mutex::default();
    Broken::new().find(move |memory, account, slug| {
        *asking.lock().unwrap() = Some(account.clone());
        sleep(RACE_DELAY);
        let account = asking.lock().unwrap().clone()?;
        find(memory, &account, slug)
    })
}

/// The token that is looked up stands in a place that all calls share.
fn sharing_the_token() -> Broken {
    let asking: Mutex<Option<TokenDigest>> = Mutex::default();
    Broken::new().credential(move |memory, digest| {
        *asking.lock().unwrap() = Some(*digest);
        sleep(RACE_DELAY);
        let digest = (*asking.lock().unwrap())?;
        credential(memory, &digest)
    })
}

/// Imports that commit each course by itself.
fn course_by_course() -> Broken {
    Broken::new().begin(|memory| {
        let import = BrokenImport::around(WithoutTransaction::over(memory)).put_course(|inner, course| {
            sleep(RACE_DELAY);
            now(inner.put_course(course))
        });
        Ok(import.boxed())
    })
}

/// What was found once is found for ever.
fn remembering() -> Broken {
    let known: Mutex<HashMap<(AccountId, String), Option<CourseDetail>>> = Mutex::default();
    Broken::new().find(move |memory, account, slug| {
        let mut known = known.lock().unwrap();
        known.entry((account.clone(), slug.to_owned())).or_insert_with(|| find(memory, account, slug)).clone()
    })
}

/// Courses that are read after the revision that comes with them.
fn after_the_revision(read: Read) -> Broken {
    thread_local! {
        static BEFORE: Cell<Option<Revision>> = const { Cell::new(None) };
    }
    let ask = |memory: &MemoryStorage, account: &AccountId| {
        BEFORE.set(now(memory.revision(account)).unwrap());
        sleep(RACE_DELAY);
    };
    Broken::new()
        .list(move |memory, account, page, rows| {
            ask(memory, account);
            list(memory, account, page, rows);
        })
        .find(move |memory, account, slug| {
            ask(memory, account);
            find(memory, account, slug)
        })
        .returned_revision(move |_, of, revision| if of == read { BEFORE.get() } else { revision })
        // So that the writes are not over before a read begins.
        .begin(|memory| {
            sleep(RACE_DELAY);
            begin(memory)
        })
}

/// A key is looked for, and created a while after.
fn created_in_two_steps() -> Broken {
    Broken::new().create(|memory, key, by| {
        let exists = record(memory, &key.record.identity.credential_id).is_some();
        sleep(RACE_DELAY);
        match create(memory, key, by) {
            Err(_) if !exists => Ok(()),
            created => created,
        }
    })
}

/// A key is looked at, and replaced a while after.
fn rotated_in_two_steps() -> Broken {
    Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let Some(old) = record(memory, id).filter(|old| old.replaced_by.is_none()) else { return Ok(None) };
        sleep(RACE_DELAY);
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        if rotated.is_none() {
            create(memory, successor, by)?;
        }
        Ok(rotated.or(Some(old)))
    })
}

/// A key is looked at, and revoked a while after.
fn revoked_in_two_steps() -> Broken {
    Broken::new().revoke(|memory, account, id, at, by| {
        let before = record(memory, id)?;
        sleep(RACE_DELAY);
        let revoked = revoke(memory, account, id, at, by)?;
        let revoked_at = before.revoked_at.or(Some(at));
        Some(CredentialRecord { revoked_at, ..revoked })
    })
}

/// A link is looked at, and taken a while after.
fn exchanged_in_two_steps() -> Broken {
    let taken: Mutex<HashMap<TokenDigest, Account>> = Mutex::default();
    Broken::new().exchange(move |memory, link, at, session| {
        let before = taken.lock().unwrap().get(link).cloned();
        sleep(RACE_DELAY);
        let mut taken = taken.lock().unwrap();
        match (before, taken.get(link)) {
            (Some(_), _) => None,
            (None, Some(account)) => Some(account.clone()),
            (None, None) => {
                let account = exchange(memory, link, at, session)?;
                taken.insert(*link, account.clone());
                Some(account)
            }
        }
    })
}

/// The part of a change that is committed later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Later {
    Change,
    Event,
}

/// Keys that are committed a while before their events, or after them.
fn keys_in_two_transactions(later: Later) -> Broken {
    let committed = Arc::new(Mutex::new(HashSet::<Arc<str>>::new()));
    let (of_keys, of_events) = (Arc::clone(&committed), Arc::clone(&committed));
    Broken::new()
        .create(move |memory, key, by| {
            create(memory, key, by)?;
            sleep(RACE_DELAY);
            committed.lock().unwrap().insert(Arc::clone(&key.record.identity.credential_id));
            Ok(())
        })
        .keys(move |memory, account, at, ended| {
            let committed = of_keys.lock().unwrap();
            let mut keys = keys(memory, account, at, ended)?;
            keys.retain(|key| later == Later::Event || committed.contains(&key.identity.credential_id));
            Some(keys)
        })
        .events(move |memory, account, most| {
            let committed = of_events.lock().unwrap();
            let is_committed = |id: &Option<Arc<str>>| id.as_ref().is_some_and(|id| committed.contains(id));
            let mut all = events(memory, account, most);
            all.retain(|event| later == Later::Change || is_committed(&event.credential_id));
            all
        })
}

/// Sessions that are committed a while before their events, or after them.
fn sessions_in_two_transactions(later: Later) -> Broken {
    let committed = Arc::new(Mutex::new(HashSet::<AccountId>::new()));
    let (of_sessions, of_events) = (Arc::clone(&committed), Arc::clone(&committed));
    Broken::new()
        .exchange(move |memory, link, at, new| {
            let account = exchange(memory, link, at, new)?;
            sleep(RACE_DELAY);
            committed.lock().unwrap().insert(account.id.clone());
            Some(account)
        })
        .session(move |memory, digest| {
            let committed = of_sessions.lock().unwrap();
            session(memory, digest).filter(|found| later == Later::Event || committed.contains(&found.account.id))
        })
        .events(move |memory, account, most| {
            let is_committed = of_events.lock().unwrap().contains(account);
            let mut all = events(memory, account, most);
            all.retain(|event| later == Later::Change || event.action != CredentialAction::SignedIn || is_committed);
            all
        })
}

flaws! {
    read_in_two_statements: in_two_statements() => courses::concurrency::call_returns_one_consistent_state, "of one state";
    permits_lost_with_dropped_reads: Broken::new().permits(64)
        => courses::concurrency::dropped_read_does_not_affect_later_calls, "may be dropped before they finish";
    remembered_for_ever: remembering() => courses::concurrency::read_returns_all_changes_committed_before_it, "committed before it began";
    pages_read_after_their_revision: after_the_revision(Read::Page)
        => courses::revision::reads_never_return_older_revision, "A page never brings a revision from before it";
    courses_read_after_their_revision: after_the_revision(Read::Course)
        => courses::revision::reads_never_return_older_revision, "A course never brings a revision from before it";
    refused_beyond_sixty_four: Broken::new().permits(64)
        => courses::concurrency::concurrent_reads_on_one_thread_return_own_results, "at the same time";
    one_question_for_all: sharing_the_question()
        => courses::concurrency::concurrent_reads_on_several_threads_return_own_results, "each has its own answer";

    permits_lost_with_dropped_look_ups: Broken::new().permits(64)
        => credentials::lookup::dropped_lookup_does_not_affect_later_ones, "may be dropped before they finish";
    one_token_for_all: sharing_the_token()
        => credentials::lookup::concurrent_lookups_return_own_results, "each has its own answer";

    seen_course_by_course: course_by_course()
        => administration::concurrent_writes::import_becomes_visible_atomically, "all of an import or nothing";
    other_imports_lost: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::concurrent_imports_lose_no_data, "there as a whole";
    removals_undone: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::removal_during_import_is_not_undone, "not undone";

    keys_created_in_two_steps: created_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_creations_succeeds, "AlreadyExists";
    keys_rotated_in_two_steps: rotated_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_rotations_succeeds, "one is stored";
    keys_revoked_in_two_steps: revoked_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_revocations_takes_effect, "is revoked once";
    keys_committed_before_their_events: keys_in_two_transactions(Later::Event)
        => keys::keys_concurrency::key_and_its_event_become_visible_together, "was there before its event";
    keys_committed_after_their_events: keys_in_two_transactions(Later::Change)
        => keys::keys_concurrency::key_and_its_event_become_visible_together, "was there before it";
    links_exchanged_in_two_steps: exchanged_in_two_steps()
        => sign_ins::link_exchange::one_of_many_concurrent_exchanges_succeeds, "by one of many calls";
    sessions_committed_before_their_events: sessions_in_two_transactions(Later::Event)
        => sign_ins::sign_in_events::session_and_its_event_become_visible_together, "there before its event";
    sessions_committed_after_their_events: sessions_in_two_transactions(Later::Change)
        => sign_ins::sign_in_events::session_and_its_event_become_visible_together, "there before the session";
}
