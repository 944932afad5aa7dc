//! Flaws that only concurrent calls, or calls that are dropped early, reveal.

use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, CredentialStorage, KeyStorage, SignInStorage};

use crate::broken::{Broken, Cache, courses, lagging, put, record, run};
use crate::flaws;

const RACE_DELAY: Duration = Duration::from_micros(300);

/// Stores the request in a variable that all calls share, and returns it after a delay.
fn shared<T: Clone>(variable: &Mutex<Option<T>>, request: &T) -> T {
    *variable.lock().unwrap() = Some(request.clone());
    sleep(RACE_DELAY);
    variable.lock().unwrap().clone().unwrap()
}

/// Returns a storage whose writes are slow, so that they do not end before a read begins.
fn writing_slowly() -> Broken {
    Broken::new()
        .begin_import(|memory| {
            sleep(RACE_DELAY);
            run(memory.begin_import())
        })
        .create_key(|memory, key, by| {
            sleep(RACE_DELAY);
            run(memory.create_key(key, by))
        })
        .exchange_link(|memory, link, now, session| {
            sleep(RACE_DELAY);
            run(memory.exchange_link(link, now, session))
        })
}

flaws! {
    page_has_old_revision: writing_slowly().page_revision(lagging())
        => revision { reads_return_current_revision reads_never_return_older_revision };
    course_has_old_revision: {
        let lag = lagging();
        writing_slowly().course(move |found| lag(&mut found.revision))
    } => revision { reads_return_current_revision reads_never_return_older_revision };
    calls_share_request: {
        let (accounts, digests) = (Mutex::default(), Mutex::default());
        Broken::new()
            .find_course(move |memory, account, slug| run(memory.find_course(&shared(&accounts, account), slug)))
            .find_credential(move |memory, digest| run(memory.find_credential(&shared(&digests, digest))))
    } => concurrency { concurrent_reads_on_several_threads_return_own_results }
        lookup { concurrent_lookups_return_own_results };
    dropped_call_leaks_permit: Broken::new().permits(64)
        => concurrency { concurrent_reads_on_one_thread_return_own_results dropped_read_does_not_affect_later_calls }
        lookup { dropped_lookup_does_not_affect_later_ones };
    course_is_read_in_two_statements: Broken::new().find_course(|memory, account, slug| {
        let mut course = run(memory.find_course(account, slug))?;
        sleep(RACE_DELAY);
        if let (Some(first), Some(second)) = (&mut course.value, run(memory.find_course(account, slug))?.value) {
            first.modules = second.modules;
        }
        Ok(course)
    }) => concurrency { call_returns_one_consistent_state };
    course_is_cached: {
        let cache = Cache::new();
        Broken::new().find_course(move |memory, account, slug| {
            Ok(cache.first((account.clone(), slug.to_owned()), || run(memory.find_course(account, slug)).unwrap()))
        })
    } => concurrency { read_returns_all_changes_committed_before_it }
        changes { changed_course_is_returned_with_current_content };

    import_has_no_transaction: Broken::new().import(|import, memory| {
        let (of_accounts, of_courses, of_prune) = (memory.clone(), memory.clone(), memory.clone());
        import.put_account = Box::new(move |inner, account| {
            put(&of_accounts, Some(account), &[])?;
            run(inner.put_account(account))
        });
        import.put_course = Box::new(move |inner, course| {
            let change = run(inner.put_course(course))?;
            sleep(RACE_DELAY);
            put(&of_courses, None, std::slice::from_ref(course))?;
            Ok(change)
        });
        import.prune = Box::new(move |inner| {
            let pruned = run(inner.prune()).unwrap();
            pruned.iter().for_each(|(account, slug)| { run(of_prune.remove_course(account, slug)).unwrap(); });
            pruned
        });
        import.commit = Box::new(|_| Ok(()));
    }) => concurrent_writes { import_becomes_visible_atomically }
        import_atomicity { import_is_invisible_before_commit import_replaces_revision_only_when_committed };
    import_overwrites_concurrent_changes: Broken::new().import(|import, memory| {
        let (before, memory) = (courses(memory), memory.clone());
        import.commit = Box::new(move |inner| run(inner.commit()).or_else(|_| put(&memory, None, &before)));
    }) => concurrent_writes { concurrent_imports_lose_no_data removal_during_import_is_not_undone };

    key_is_created_in_two_steps: Broken::new().create_key(|memory, key, by| {
        let exists = record(memory, &key.record.identity.credential_id).is_some();
        sleep(RACE_DELAY);
        run(memory.create_key(key, by)).or_else(|error| if exists { Err(error) } else { Ok(()) })
    }) => keys_concurrency { one_of_many_concurrent_creations_succeeds };
    key_is_rotated_in_two_steps: Broken::new().rotate_key(|memory, account, id, ends_at, successor, by| {
        let Some(old) = record(memory, id).filter(|old| old.replaced_by.is_none()) else { return Ok(None) };
        sleep(RACE_DELAY);
        let rotated = run(memory.rotate_key(account, id, ends_at, successor, by))?;
        Ok(rotated.or(Some(old)))
    }) => keys_concurrency { one_of_many_concurrent_rotations_succeeds };
    key_is_revoked_in_two_steps: Broken::new().revoke_key(|memory, account, id, at, by| {
        let Some(before) = record(memory, id) else { return Ok(None) };
        sleep(RACE_DELAY);
        let mut revoked = run(memory.revoke_key(account, id, at, by))?;
        revoked.iter_mut().for_each(|key| key.revoked_at = before.revoked_at.or(Some(at)));
        Ok(revoked)
    }) => keys_concurrency { one_of_many_concurrent_revocations_takes_effect };
    link_is_exchanged_in_two_steps: {
        let accounts = Mutex::new(std::collections::HashMap::new());
        Broken::new().exchange_link(move |memory, link, now, session| {
            let is_exchanged = accounts.lock().unwrap().contains_key(link);
            sleep(RACE_DELAY);
            let exchanged = run(memory.exchange_link(link, now, session))?;
            let mut accounts = accounts.lock().unwrap();
            accounts.extend(exchanged.clone().map(|account| (*link, account)));
            Ok(exchanged.or_else(|| accounts.get(link).filter(|_| !is_exchanged).cloned()))
        })
    } => links { one_of_many_concurrent_exchanges_succeeds };
    events_are_visible_late: writing_slowly().events(lagging())
        => keys_concurrency { key_and_its_event_become_visible_together }
        sign_in_events { session_and_its_event_become_visible_together };
    changes_are_visible_after_events: writing_slowly().keys(lagging()).session(lagging())
        => keys_concurrency { key_and_its_event_become_visible_together }
        sign_in_events { session_and_its_event_become_visible_together };
}
