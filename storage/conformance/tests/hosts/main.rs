//! A host application that fills its tables itself, which store less than those of the built-in storages. Without a flaw, it
//! passes the suite; with a flaw, or undeclared lock errors, it fails.

mod blocked_reads;
#[allow(dead_code, reason = "the broken storages have more kinds of flaws")]
#[path = "../broken_storages/broken.rs"]
mod broken;
mod host;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::AdminStorage;
use catalogue_core::auth::Scopes;
use catalogue_core::storage::{CourseStorage, Position, Revision, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course};
use catalogue_storage_conformance::{
    CourseFixture, CredentialFixture, combined, courses as course_cases, credentials, run as run_case, sample,
};

use broken::{Broken, Cache, courses, run};
use host::Host;

async fn host() -> Host {
    Host::new()
}

async fn courses_only() -> impl CourseFixture {
    Host::new()
}

async fn credentials_only() -> impl CredentialFixture {
    Host::new()
}

mod with_courses_and_credentials {
    catalogue_storage_conformance::course_and_credential_storage_tests!(super::host);
}

mod with_courses_only {
    catalogue_storage_conformance::course_storage_tests!(super::courses_only);
}

mod with_credentials_only {
    catalogue_storage_conformance::credential_storage_tests!(super::credentials_only);
}

mod with_keys {
    catalogue_storage_conformance::key_storage_tests!(super::host);
}

mod with_sign_ins {
    catalogue_storage_conformance::sign_in_storage_tests!(super::host);
}

/// Creates a test of each flaw: the case fails with the quoted words in its message.
macro_rules! caught {
    ($($name:ident: $flaw:expr => $group:ident::$topic:ident::$case:ident, $rule:literal;)*) => {
        $(
            #[test]
            fn $name() {
                assert_caught($rule, || run_case($group::$topic::$case(&Host::with($flaw))));
            }
        )*
    };
}

fn assert_caught(rule: &str, case: impl FnOnce()) {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)).expect_err("the flaw was not caught");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let message = message.expect("a message");
    assert!(message.contains(rule), "caught for another reason than {rule:?}: {message}");
}

fn position(course: &Course) -> Position {
    Position { created_at: course.created_at, slug: course.slug.clone() }
}

/// How a flawed list differs from the one that the suite expects.
struct List {
    selects: fn(&AccountId, &Course) -> bool,
    order: fn(&Position, &Position) -> Ordering,
    follows: fn(&Position, &Position) -> bool,
    alter_page: fn(&mut Vec<Course>, usize),
}

const LIST: List = List {
    selects: |account, course| course.account == *account,
    order: |one, two| two.cmp(one),
    follows: |position, after| position < after,
    alter_page: |_, _| {},
};

fn listing(List { selects, order, follows, alter_page }: List) -> impl FnOnce(Broken) -> Broken {
    move |storage| {
        storage.list_courses(move |memory, account, page, rows| {
            let mut listed = courses(memory);
            listed.retain(|course| {
                let follows = |after| follows(&position(course), after);
                selects(account, course) && page.after.as_ref().is_none_or(follows)
            });
            listed.sort_by(|one, two| order(&position(one), &position(two)));
            listed.truncate(page.rows());
            alter_page(&mut listed, page.limit.get());
            let _ = listed.iter().try_for_each(|course| rows.push(sample::row(course), || position(course)));
            run(memory.revision(account))
        })
    }
}

/// Finds the first course that `matches` an account and a slug.
fn finding(matches: fn(&Course, &AccountId, &str) -> bool) -> impl FnOnce(Broken) -> Broken {
    move |storage| {
        storage.find_course(move |memory, account, slug| {
            let found = courses(memory).into_iter().find(|course| matches(course, account, slug));
            let (account, slug) = found.as_ref().map_or((account, slug), |course| (&course.account, &course.slug));
            run(memory.find_course(account, slug))
        })
    }
}

/// Returns a function that replaces each revision by the first one.
fn frozen() -> impl Fn(&mut Option<Revision>) + Clone {
    let first = Arc::new(Mutex::new(None));
    move |revision| *revision = revision.map(|revision| *first.lock().unwrap().get_or_insert(revision))
}

/// Alters the revisions that all reads of courses return.
fn altering_revisions(
    storage: Broken,
    alter: impl Fn(&mut Option<Revision>) + Clone + Send + Sync + 'static,
) -> Broken {
    let course = alter.clone();
    storage.current_revision(alter.clone()).page_revision(alter).course(move |found| course(&mut found.revision))
}

caught! {
    courses_are_ordered_oldest_first: listing(List { order: Position::cmp, follows: |position, after| position > after, ..LIST })
        => course_cases::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ties_are_ordered_ascending: listing(List {
        order: |one, two| (two.created_at, &one.slug).cmp(&(one.created_at, &two.slug)),
        follows: |position, after| (after.created_at, &position.slug) > (position.created_at, &after.slug),
        ..LIST
    }) => course_cases::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    list_omits_hidden_courses: listing(List { selects: |account, course| course.account == *account && !course.hidden, ..LIST })
        => course_cases::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    page_includes_cursor_position: listing(List { follows: |position, after| position <= after, ..LIST })
        => course_cases::paging::page_after_last_course_is_empty, "does not contain the course at its start";
    page_continues_by_time_only: listing(List { follows: |position, after| position.created_at < after.created_at, ..LIST })
        => course_cases::paging::pages_concatenate_to_full_list_for_every_limit, "concatenated pages are the whole list";
    last_page_has_next: listing(List {
        alter_page: |rows, limit| rows.extend(rows.last().filter(|_| rows.len() == limit).cloned()),
        ..LIST
    }) => course_cases::paging::next_is_none_only_on_last_page, "exactly on the last";
    extra_row_is_omitted: listing(List { alter_page: |rows, limit| rows.truncate(limit), ..LIST })
        => course_cases::paging::next_is_none_only_on_last_page, "exactly on the last";
    list_ignores_account: listing(List { selects: |_, _| true, ..LIST })
        => course_cases::isolation::list_returns_courses_of_one_account, "no others";
    detail_ignores_account: finding(|course, _, slug| course.slug == slug)
        => course_cases::isolation::course_of_other_account_returns_none, "like one that does not exist";
    slugs_are_case_insensitive: finding(|course, account, slug| {
        course.account == *account && course.slug.eq_ignore_ascii_case(slug)
    }) => course_cases::detail::slugs_are_compared_by_bytes, "byte by byte";
    modules_are_numbered_from_zero: |storage: Broken| storage.course(|found| {
        found.value.iter_mut().flat_map(|course| &mut course.modules).for_each(|module| module.number -= 1);
    }) => course_cases::detail::modules_are_ordered_and_numbered_from_one, "numbered from 1";
    removed_course_is_found: |storage: Broken| {
        let removed = Arc::new(Mutex::new(HashMap::new()));
        let found_before = removed.clone();
        storage
            .remove_course(move |memory, account, slug| {
                let found = run(memory.find_course(account, slug))?.value;
                found_before.lock().unwrap().insert((account.clone(), slug.to_owned()), found);
                run(AdminStorage::remove_course(memory, account, slug))
            })
            .find_course(move |memory, account, slug| {
                let mut found = run(memory.find_course(account, slug))?;
                if let Some(removed) = removed.lock().unwrap().get(&(account.clone(), slug.to_owned())) {
                    found.value = found.value.or_else(|| removed.clone());
                }
                Ok(found)
            })
    } => course_cases::changes::removed_course_is_not_returned, "A removed course is not found";
    first_version_is_served: |storage: Broken| {
        let first = Cache::new();
        storage.find_course(move |memory, account, slug| {
            let mut found = run(memory.find_course(account, slug))?;
            found.value = found.value.map(|course| first.first((account.clone(), slug.to_owned()), || course));
            Ok(found)
        })
    } => course_cases::changes::changed_course_is_returned_with_current_content, "listed once, with its current content";
    missing_course_is_an_error: |storage: Broken| storage.find_course(|memory, account, slug| {
        let found = run(memory.find_course(account, slug))?;
        if found.value.is_some() { Ok(found) } else { Err(StorageError::new(StorageErrorKind::Other, "no such row")) }
    }) => course_cases::detail::missing_course_returns_none, "returns None, not an error";
    revision_never_changes: |storage| altering_revisions(storage, frozen())
        => course_cases::revision::every_course_change_replaces_revision, "is replaced by";
    revision_ignores_removals: |storage| {
        let former = Arc::new(Mutex::new(HashMap::new()));
        let before_removal = former.clone();
        let storage = storage.remove_course(move |memory, account, slug| {
            let before = run(memory.revision(account))?;
            let existed = run(AdminStorage::remove_course(memory, account, slug))?;
            before_removal.lock().unwrap().insert(run(memory.revision(account))?, before);
            Ok(existed)
        });
        altering_revisions(storage, move |revision| {
            if let Some(before) = former.lock().unwrap().get(revision) {
                *revision = *before;
            }
        })
    } => course_cases::revision::removing_course_replaces_revision, "a removed course";
    credential_has_old_revision: |storage: Broken| {
        let first = frozen();
        storage.credential(move |found| found.iter_mut().for_each(|found| first(&mut found.revision)))
    } => combined::credential_revision::credential_has_current_revision, "current revision";
    revoked_credential_is_not_found: |storage: Broken| storage.credential(|found| {
        found.take_if(|found| found.revoked_at.is_some());
    }) => credentials::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    scopes_are_dropped: |storage: Broken| storage.credential(|found| {
        found.iter_mut().for_each(|found| found.identity.scopes = Scopes::default());
    }) => credentials::lookup::scopes_are_stored_unchanged, "Scopes are stored";
}
