//! Flaws of revisions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use catalogue_core::admin::Change;
use catalogue_core::storage::Revision;
use catalogue_core::{AccountId, Course};

use crate::broken::{Broken, Read, courses, now};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction};

fn revision_of(content: impl Hash) -> Revision {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Revision::from_bytes(bytes)
}

/// Revisions that are made of the account's courses, or of what is looked at of them.
fn made_of<H: Hash>(look: impl Fn(&AccountId, Vec<Course>) -> H + Send + Sync + 'static) -> Broken {
    Broken::new().revision(move |memory, account| {
        let own = courses(memory).into_iter().filter(|course| course.account == *account).collect();
        Some(revision_of(look(account, own)))
    })
}

/// Revisions that count what is put, whatever the account.
fn counting_puts(of_account: impl Fn(&AccountId) -> String + Send + Sync + 'static) -> Broken {
    let puts = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&puts);
    Broken::new()
        .begin(move |memory| {
            let puts = Arc::clone(&puts);
            let import = BrokenImport::over(memory)?.put_course(move |inner, course| {
                puts.fetch_add(1, Ordering::SeqCst);
                now(inner.put_course(course))
            });
            Ok(import.boxed())
        })
        .revision(move |_, account| Some(revision_of((counted.load(Ordering::SeqCst), of_account(account)))))
}

/// Revisions that count the courses that imports add and change.
fn counting_changes() -> Broken {
    let changes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&changes);
    Broken::new()
        .begin(move |memory| {
            let changes = Arc::clone(&changes);
            let import = BrokenImport::over(memory)?.put_course(move |inner, course| {
                let change = now(inner.put_course(course))?;
                changes.fetch_add(u64::from(change != Change::Unchanged), Ordering::SeqCst);
                Ok(change)
            });
            Ok(import.boxed())
        })
        .revision(move |_, account| Some(revision_of((counted.load(Ordering::SeqCst), account.clone()))))
}

/// What is read brings another revision along.
fn bringing(read: Read, alter: impl Fn(Option<Revision>) -> Option<Revision> + Send + Sync + 'static) -> Broken {
    Broken::new().returned_revision(move |_, of, revision| if of == read { alter(revision) } else { revision })
}

/// The revision that was asked for first, for ever.
fn the_first() -> impl Fn(Option<Revision>) -> Option<Revision> + Send + Sync + 'static {
    let first = OnceLock::new();
    move |revision| *first.get_or_init(|| revision)
}

/// A revision for each call.
fn for_each_call() -> Broken {
    let calls = AtomicU64::new(0);
    Broken::new().revision(move |_, _| Some(revision_of(calls.fetch_add(1, Ordering::SeqCst))))
}

fn without_bodies(mut courses: Vec<Course>) -> String {
    courses.iter_mut().flat_map(|course| &mut course.modules).for_each(|module| module.content.clear());
    format!("{courses:?}")
}

fn without_modules(mut courses: Vec<Course>) -> String {
    courses.iter_mut().for_each(|course| course.modules.clear());
    format!("{courses:?}")
}

flaws! {
    pages_bring_an_old_one: bringing(Read::Page, the_first())
        => courses::revision::reads_return_current_revision, "brings the current revision, or none";
    details_bring_an_old_one: bringing(Read::Course, the_first())
        => courses::revision::reads_return_current_revision, "brings the current revision, or none";
    pages_bring_none: bringing(Read::Page, |_| None)
        => courses::revision::reads_return_current_revision, "Courses bring their revision along";
    details_bring_none: bringing(Read::Course, |_| None)
        => courses::revision::reads_return_current_revision, "Courses bring their revision along";
    fresh_for_each_call: for_each_call() => courses::revision::revision_is_stable_without_changes, "stays while nothing";
    the_account_itself: made_of(|account, _| account.clone())
        => courses::revision::adding_course_replaces_revision, "a course that is added";
    blind_to_modules: made_of(|account, courses| (account.clone(), without_modules(courses)))
        => courses::revision::every_course_change_replaces_revision, "the title of one module";
    blind_to_bodies: made_of(|account, courses| (account.clone(), without_bodies(courses)))
        => courses::revision::every_course_change_replaces_revision, "the body of one module";
    blind_to_removals: counting_puts(ToString::to_string)
        => courses::revision::removing_course_replaces_revision, "a course that is removed";
    blind_to_pruning: counting_changes()
        => administration::import_revision::pruning_replaces_revision, "a course that is pruned";
    one_for_all_accounts: counting_puts(|_| String::new())
        => courses::revision::changes_do_not_affect_revisions_of_other_accounts, "leaves the others' revisions";
    a_number_that_accounts_share: made_of(|_, courses| courses.len())
        => courses::revision::accounts_with_different_courses_have_different_revisions, "across accounts too";
    made_of_the_content: made_of(|account, courses| (account.clone(), format!("{courses:?}")))
        => courses::revision::revision_is_never_reused, "never used again";
    replaced_before_the_commit: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_revision::uncommitted_import_leaves_revision_unchanged, "before its commit";
    replaced_by_a_dropped_import: counting_puts(ToString::to_string)
        => administration::import_revision::uncommitted_import_leaves_revision_unchanged, "before its commit";
}
