//! Flaws of revisions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use catalogue_core::admin::Change;
use catalogue_core::storage::Revision;
use catalogue_core::{AccountId, Course};

use crate::broken::{Broken, Read, courses, run};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction};

fn revision_of(content: impl Hash) -> Revision {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Revision::from_bytes(bytes)
}

/// Derives revisions from the part of the account's courses that `part` returns.
fn deriving_from<H: Hash>(part: impl Fn(&AccountId, Vec<Course>) -> H + Send + Sync + 'static) -> Broken {
    Broken::new().revision(move |memory, account| {
        let own = courses(memory).into_iter().filter(|course| course.account == *account).collect();
        Some(revision_of(part(account, own)))
    })
}

/// Derives revisions from the number of all puts and the result of `of_account`.
fn counting_puts(of_account: impl Fn(&AccountId) -> String + Send + Sync + 'static) -> Broken {
    let puts = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&puts);
    Broken::new()
        .begin(move |memory| {
            let puts = Arc::clone(&puts);
            let import = BrokenImport::over(memory)?.put_course(move |inner, course| {
                puts.fetch_add(1, Ordering::SeqCst);
                run(inner.put_course(course))
            });
            Ok(import.boxed())
        })
        .revision(move |_, account| Some(revision_of((counted.load(Ordering::SeqCst), of_account(account)))))
}

/// Derives revisions from the number of all added and changed courses, and the account.
fn counting_changes() -> Broken {
    let changes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&changes);
    Broken::new()
        .begin(move |memory| {
            let changes = Arc::clone(&changes);
            let import = BrokenImport::over(memory)?.put_course(move |inner, course| {
                let change = run(inner.put_course(course))?;
                changes.fetch_add(u64::from(change != Change::Unchanged), Ordering::SeqCst);
                Ok(change)
            });
            Ok(import.boxed())
        })
        .revision(move |_, account| Some(revision_of((counted.load(Ordering::SeqCst), account.clone()))))
}

/// Alters the revision that reads of the kind `read` return.
fn altering(read: Read, alter: impl Fn(Option<Revision>) -> Option<Revision> + Send + Sync + 'static) -> Broken {
    Broken::new().returned_revision(move |_, of, revision| if of == read { alter(revision) } else { revision })
}

/// Creates a function that replaces every revision by the first one.
fn first_revision() -> impl Fn(Option<Revision>) -> Option<Revision> + Send + Sync + 'static {
    let first = OnceLock::new();
    move |revision| *first.get_or_init(|| revision)
}

/// Returns a new revision on each call.
fn changing_on_each_call() -> Broken {
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
    page_has_old_revision: altering(Read::Page, first_revision())
        => courses::revision::reads_return_current_revision, "returns the current revision, or none";
    detail_has_old_revision: altering(Read::Course, first_revision())
        => courses::revision::reads_return_current_revision, "returns the current revision, or none";
    page_has_no_revision: altering(Read::Page, |_| None)
        => courses::revision::reads_return_current_revision, "Courses are returned with their revision";
    detail_has_no_revision: altering(Read::Course, |_| None)
        => courses::revision::reads_return_current_revision, "Courses are returned with their revision";
    revision_changes_on_each_call: changing_on_each_call() => courses::revision::revision_is_stable_without_changes, "stays the same while nothing";
    revision_is_account_id: deriving_from(|account, _| account.clone())
        => courses::revision::adding_course_replaces_revision, "an added course";
    revision_ignores_modules: deriving_from(|account, courses| (account.clone(), without_modules(courses)))
        => courses::revision::every_course_change_replaces_revision, "the title of one module";
    revision_ignores_bodies: deriving_from(|account, courses| (account.clone(), without_bodies(courses)))
        => courses::revision::every_course_change_replaces_revision, "the body of one module";
    revision_ignores_removals: counting_puts(ToString::to_string)
        => courses::revision::removing_course_replaces_revision, "a removed course";
    revision_ignores_pruning: counting_changes()
        => administration::import_revision::pruning_replaces_revision, "a pruned course";
    all_accounts_share_one_revision: counting_puts(|_| String::new())
        => courses::revision::changes_do_not_affect_revisions_of_other_accounts, "leaves other revisions unchanged";
    revision_is_number_of_courses: deriving_from(|_, courses| courses.len())
        => courses::revision::accounts_with_different_courses_have_different_revisions, "even across accounts";
    revision_depends_only_on_content: deriving_from(|account, courses| (account.clone(), format!("{courses:?}")))
        => courses::revision::revision_is_never_reused, "never reused";
    revision_changes_before_commit: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_revision::uncommitted_import_leaves_revision_unchanged, "before its commit";
    dropped_import_replaces_revision: counting_puts(ToString::to_string)
        => administration::import_revision::uncommitted_import_leaves_revision_unchanged, "before its commit";
}
