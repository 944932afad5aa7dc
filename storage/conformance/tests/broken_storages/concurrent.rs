//! Flaws that show only when calls meet.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

use catalogue_core::auth::TokenDigest;
use catalogue_core::storage::{CourseStorage, MemoryStorage, Revision};
use catalogue_core::{AccountId, CourseDetail};

use crate::broken::{Broken, Read, begin, credential, find, list, now};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction, WritesBackAll};

const A_WHILE: Duration = Duration::from_micros(300);

/// A course and its modules, each of the state that it finds.
fn in_two_statements() -> Broken {
    Broken::new().find(|memory, account, slug| {
        let course = find(memory, account, slug)?;
        sleep(A_WHILE);
        let modules = find(memory, account, slug)?.modules;
        Some(CourseDetail { modules, ..course })
    })
}

/// The account that asks stands in a place that all calls share.
fn sharing_the_question() -> Broken {
    let asking: Mutex<Option<AccountId>> = Mutex::default();
    Broken::new().find(move |memory, account, slug| {
        *asking.lock().unwrap() = Some(account.clone());
        sleep(A_WHILE);
        let account = asking.lock().unwrap().clone()?;
        find(memory, &account, slug)
    })
}

/// The token that is looked up stands in a place that all calls share.
fn sharing_the_token() -> Broken {
    let asking: Mutex<Option<TokenDigest>> = Mutex::default();
    Broken::new().credential(move |memory, digest| {
        *asking.lock().unwrap() = Some(*digest);
        sleep(A_WHILE);
        let digest = (*asking.lock().unwrap())?;
        credential(memory, &digest)
    })
}

/// Imports that commit each course by itself.
fn course_by_course() -> Broken {
    Broken::new().begin(|memory| {
        let import = BrokenImport::around(WithoutTransaction::over(memory)).put_course(|inner, course| {
            sleep(A_WHILE);
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
        sleep(A_WHILE);
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
        .brought(move |_, of, revision| if of == read { BEFORE.get() } else { revision })
        // So that the writes are not over before a read begins.
        .begin(|memory| {
            sleep(A_WHILE);
            begin(memory)
        })
}

flaws! {
    read_in_two_statements: in_two_statements() => courses::concurrency::a_call_sees_one_state, "of one state";
    permits_lost_with_dropped_reads: Broken::new().permits(64)
        => courses::concurrency::a_dropped_read_does_no_harm, "may be dropped before they finish";
    remembered_for_ever: remembering() => courses::concurrency::a_read_sees_every_change_before_it, "committed before it began";
    pages_read_after_their_revision: after_the_revision(Read::Page)
        => courses::revision::no_read_brings_an_older_revision, "A page never brings a revision from before it";
    courses_read_after_their_revision: after_the_revision(Read::Course)
        => courses::revision::no_read_brings_an_older_revision, "A course never brings a revision from before it";
    refused_beyond_sixty_four: Broken::new().permits(64)
        => courses::concurrency::many_reads_on_one_thread_have_their_own_answers, "at the same time";
    one_question_for_all: sharing_the_question()
        => courses::concurrency::reads_on_several_threads_have_their_own_answers, "each has its own answer";

    permits_lost_with_dropped_look_ups: Broken::new().permits(64)
        => credentials::look_up::a_dropped_look_up_does_no_harm, "may be dropped before they finish";
    one_token_for_all: sharing_the_token()
        => credentials::look_up::look_ups_at_the_same_time_have_their_own_answers, "each has its own answer";

    seen_course_by_course: course_by_course()
        => administration::concurrent_writes::a_call_sees_all_of_an_import_or_nothing, "all of an import or nothing";
    other_imports_lost: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::imports_at_the_same_time_lose_nothing, "there as a whole";
    removals_undone: Broken::new().begin(|memory| Ok(WritesBackAll::over(memory)))
        => administration::concurrent_writes::a_removal_beside_an_import_stays, "not undone";
}
