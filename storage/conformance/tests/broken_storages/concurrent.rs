//! Flaws that only concurrent calls reveal.

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
    Broken, Read, begin, create, credential, events, exchange, find, keys, list, record, revoke, rotate, run, session,
};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction, WritesBackAll};

const RACE_DELAY: Duration = Duration::from_micros(300);

/// Reads a course and its modules from different states.
fn reading_in_two_statements() -> Broken {
    Broken::new().find(|memory, account, slug| {
        let course = find(memory, account, slug)?;
        sleep(RACE_DELAY);
        let modules = find(memory, account, slug)?.modules;
        Some(CourseDetail { modules, ..course })
    })
}

/// Stores the requested account in a variable that all calls share.
fn sharing_requested_account() -> Broken {
    let requested: Mutex<Option<AccountId>> = Mutex::default();
    Broken::new().find(move |memory, account, slug| {
        *requested.lock().unwrap() = Some(account.clone());
        sleep(RACE_DELAY);
        let account = requested.lock().unwrap().clone()?;
        find(memory, &account, slug)
    })
}

/// Stores the requested token in a variable that all calls share.
fn sharing_requested_token() -> Broken {
    let requested: Mutex<Option<TokenDigest>> = Mutex::default();
    Broken::new().credential(move |memory, digest| {
        *requested.lock().unwrap() = Some(*digest);
        sleep(RACE_DELAY);
        let digest = (*requested.lock().unwrap())?;
        credential(memory, &digest)
    })
}

/// Commits each course of an import separately.
fn committing_each_course() -> Broken {
    Broken::new().begin(|memory| {
        let import = BrokenImport::around(WithoutTransaction::over(memory)).put_course(|inner, course| {
            sleep(RACE_DELAY);
            run(inner.put_course(course))
        });
        Ok(import.boxed())
    })
}

/// Caches courses forever.
fn caching_courses() -> Broken {
    let known: Mutex<HashMap<(AccountId, String), Option<CourseDetail>>> = Mutex::default();
    Broken::new().find(move |memory, account, slug| {
        let mut known = known.lock().unwrap();
        known.entry((account.clone(), slug.to_owned())).or_insert_with(|| find(memory, account, slug)).clone()
    })
}

/// Reads the revision first, and the courses after a delay.
fn reading_after_revision(read: Read) -> Broken {
    thread_local! {
        static BEFORE: Cell<Option<Revision>> = const { Cell::new(None) };
    }
    let read_revision = |memory: &MemoryStorage, account: &AccountId| {
        BEFORE.set(run(memory.revision(account)).unwrap());
        sleep(RACE_DELAY);
    };
    Broken::new()
        .list(move |memory, account, page, rows| {
            read_revision(memory, account);
            list(memory, account, page, rows);
        })
        .find(move |memory, account, slug| {
            read_revision(memory, account);
            find(memory, account, slug)
        })
        .returned_revision(move |_, value, revision| if value == read { BEFORE.get() } else { revision })
        // Slows down writes, so that they do not end before a read begins.
        .begin(|memory| {
            sleep(RACE_DELAY);
            begin(memory)
        })
}

/// Checks for a key, and creates it after a delay.
fn creating_in_two_steps() -> Broken {
    Broken::new().create(|memory, key, by| {
        let exists = record(memory, &key.record.identity.credential_id).is_some();
        sleep(RACE_DELAY);
        match create(memory, key, by) {
            Err(_) if !exists => Ok(()),
            created => created,
        }
    })
}

/// Checks a key, and replaces it after a delay.
fn rotating_in_two_steps() -> Broken {
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

/// Checks a key, and revokes it after a delay.
fn revoking_in_two_steps() -> Broken {
    Broken::new().revoke(|memory, account, id, at, by| {
        let before = record(memory, id)?;
        sleep(RACE_DELAY);
        let revoked = revoke(memory, account, id, at, by)?;
        let revoked_at = before.revoked_at.or(Some(at));
        Some(CredentialRecord { revoked_at, ..revoked })
    })
}

/// Checks a link, and exchanges it after a delay.
fn exchanging_in_two_steps() -> Broken {
    let exchanged: Mutex<HashMap<TokenDigest, Account>> = Mutex::default();
    Broken::new().exchange(move |memory, link, at, session| {
        let before = exchanged.lock().unwrap().get(link).cloned();
        sleep(RACE_DELAY);
        let mut exchanged = exchanged.lock().unwrap();
        match (before, exchanged.get(link)) {
            (Some(_), _) => None,
            (None, Some(account)) => Some(account.clone()),
            (None, None) => {
                let account = exchange(memory, link, at, session)?;
                exchanged.insert(*link, account.clone());
                Some(account)
            }
        }
    })
}

/// Part of a change that is committed later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Later {
    Change,
    Event,
}

/// Commits keys some time before or after their events.
fn committing_keys_in_two_steps(later: Later) -> Broken {
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
        .events(move |memory, account, limit| {
            let committed = of_events.lock().unwrap();
            let is_committed = |id: &Option<Arc<str>>| id.as_ref().is_some_and(|id| committed.contains(id));
            let mut all = events(memory, account, limit);
            all.retain(|event| later == Later::Change || is_committed(&event.credential_id));
            all
        })
}

/// Commits sessions some time before or after their events.
fn committing_sessions_in_two_steps(later: Later) -> Broken {
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
        .events(move |memory, account, limit| {
            let is_committed = of_events.lock().unwrap().contains(account);
            let mut all = events(memory, account, limit);
            all.retain(|event| later == Later::Change || event.action != CredentialAction::SignedIn || is_committed);
            all
        })
}

flaws! {
    course_is_read_in_two_statements: reading_in_two_statements() => courses::concurrency::call_returns_one_consistent_state, "of one state";
    dropped_read_leaks_permit: Broken::new().permits(64)
        => courses::concurrency::dropped_read_does_not_affect_later_calls, "dropped before they finished";
    reads_are_cached_forever: caching_courses() => courses::concurrency::read_returns_all_changes_committed_before_it, "committed before it began";
    page_is_read_after_revision: reading_after_revision(Read::Page)
        => courses::revision::reads_never_return_older_revision, "A page is never returned with an older revision";
    course_is_read_after_revision: reading_after_revision(Read::Course)
        => courses::revision::reads_never_return_older_revision, "A course is never returned with an older revision";
    reads_beyond_64_are_refused: Broken::new().permits(64)
        => courses::concurrency::concurrent_reads_on_one_thread_return_own_results, "Concurrent calls";
    concurrent_reads_share_one_account: sharing_requested_account()
        => courses::concurrency::concurrent_reads_on_several_threads_return_own_results, "each return their own result";

    dropped_lookup_leaks_permit: Broken::new().permits(64)
        => credentials::lookup::dropped_lookup_does_not_affect_later_ones, "dropped before they finished";
    concurrent_lookups_share_one_token: sharing_requested_token()
        => credentials::lookup::concurrent_lookups_return_own_results, "each return their own result";

    import_commits_each_course: committing_each_course()
        => administration::concurrent_writes::import_becomes_visible_atomically, "all of an import or nothing";
    import_overwrites_concurrent_import: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::concurrent_imports_lose_no_data, "is stored completely";
    import_undoes_concurrent_removal: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::removal_during_import_is_not_undone, "not undone";

    key_creation_has_two_steps: creating_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_creations_succeeds, "AlreadyExists";
    key_rotation_has_two_steps: rotating_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_rotations_succeeds, "successors of a key is stored";
    key_revocation_has_two_steps: revoking_in_two_steps()
        => keys::keys_concurrency::one_of_many_concurrent_revocations_takes_effect, "is revoked once";
    key_is_committed_before_event: committing_keys_in_two_steps(Later::Event)
        => keys::keys_concurrency::key_and_its_event_become_visible_together, "was visible before its event";
    key_is_committed_after_event: committing_keys_in_two_steps(Later::Change)
        => keys::keys_concurrency::key_and_its_event_become_visible_together, "was visible before the key";
    link_exchange_has_two_steps: exchanging_in_two_steps()
        => sign_ins::link_exchange::one_of_many_concurrent_exchanges_succeeds, "by one of many calls";
    session_is_committed_before_event: committing_sessions_in_two_steps(Later::Event)
        => sign_ins::sign_in_events::session_and_its_event_become_visible_together, "visible before its event";
    session_is_committed_after_event: committing_sessions_in_two_steps(Later::Change)
        => sign_ins::sign_in_events::session_and_its_event_become_visible_together, "visible before the session";
}
