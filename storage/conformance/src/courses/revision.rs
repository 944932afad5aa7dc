//! Revisions of an account's courses, if the storage has them.

use std::collections::HashSet;
use std::sync::Mutex;

use catalogue_core::storage::{CourseStorage, Position, Revision};
use catalogue_core::{Course, Timestamp};

use crate::CourseFixture;
use crate::concurrency::read_during_writes;
use crate::reading::{
    as_stored, assert_found, detail_of, find, find_at_revision, list, page, retry_while_blocked, skip,
};
use crate::seed::{course, remove, seed};
use crate::variants::{variants, whole_course};

/// Returns the current revision of an account, if it has one.
pub(crate) async fn revision(fixture: &impl CourseFixture, account: &str) -> Option<Revision> {
    let account = fixture.account(account).await;
    let revision = retry_while_blocked(fixture, async || fixture.storage().revision(&account).await).await;
    revision.expect("a revision can be read")
}

/// Puts a course `c` in accounts `a` and `b`, and returns the revision of `a`. Without one, the case is skipped.
pub(crate) async fn seed_and_read_revision(fixture: &impl CourseFixture) -> Option<Revision> {
    seed(fixture, &[whole_course("a", "c"), whole_course("b", "c")]).await;
    let revision = revision(fixture, "a").await;
    if revision.is_none() {
        skip("the storage has no revisions");
    }
    revision
}

/// Asserts that the account's revision is not `before`, and returns it.
pub(crate) async fn replaced(
    fixture: &impl CourseFixture,
    account: &str,
    before: Option<Revision>,
    by: &str,
) -> Option<Revision> {
    let now = revision(fixture, account).await;
    assert!(now.is_some(), "A storage with revisions has one for every account with courses.");
    assert_ne!(now, before, "A revision is replaced by {by}.");
    now
}

/// A revision stays the same while nothing changes, however much is read.
pub async fn revision_is_stable_without_changes(fixture: &impl CourseFixture) {
    let before @ Some(_) = seed_and_read_revision(fixture).await else { return };
    for _ in 0..3 {
        list(fixture, "a").await;
        find(fixture, "a", "c").await;
        find(fixture, "a", "absent").await;
        assert_eq!(revision(fixture, "a").await, before, "A revision stays the same while nothing changes.");
    }
}

/// Every read returns the current revision with its result, or none.
pub async fn reads_return_current_revision(fixture: &impl CourseFixture) {
    let Some(_) = seed_and_read_revision(fixture).await else { return };
    for slug in ["c2", "c3"] {
        seed(fixture, &[course("a", slug)]).await;
        for account in ["a", "b", "unknown"] {
            let now = revision(fixture, account).await;
            let first = page(fixture, account, 50, None).await.revision;
            let detail = find_at_revision(fixture, account, "c").await.revision;
            let absent = find_at_revision(fixture, account, "absent").await.revision;
            let after = Position { created_at: Timestamp::MIN, slug: String::new() };
            let empty = page(fixture, account, 50, Some(after)).await.revision;
            for returned in [first, detail, absent, empty] {
                assert!(returned.is_none() || returned == now, "A read returns the current revision, or none.");
            }
            let has_courses = account != "unknown";
            assert!(!has_courses || (first.is_some() && detail.is_some()), "Courses are returned with their revision.");
        }
    }
}

/// The revision returned with a page or a course is that of the moment of reading or a later one, even during writes.
pub async fn reads_never_return_older_revision(fixture: &impl CourseFixture) {
    let Some(_) = seed_and_read_revision(fixture).await else { return };
    // Indexed by the number of the write that made them.
    let revisions: Mutex<Vec<Option<Revision>>> = Mutex::default();
    let check = |what: &str, title: &str, returned: Option<Revision>| {
        let read: usize = title.parse().expect("a number");
        let older = revisions.lock().expect("no case has panicked").iter().position(|known| *known == returned);
        assert!(
            returned.is_none() || older.is_none_or(|returned| returned >= read),
            "A {what} is never returned with an older revision: of write {older:?}, with data of write {read}."
        );
    };
    let read = async || {
        let page = page(fixture, "w", 50, None).await;
        check("page", &page.items[0].title, page.revision);
        let found = find_at_revision(fixture, "w", "c").await;
        check("course", &found.value.expect("the course exists throughout").title, found.revision);
    };
    let write = async |number: usize| {
        seed(fixture, &[Course { title: number.to_string(), ..course("w", "c") }]).await;
        let now = revision(fixture, "w").await;
        revisions.lock().expect("no case has panicked").push(now);
    };
    read_during_writes(read, write).await;
}

/// A change of any field of a course or module replaces the revision, including modules' bodies and order.
pub async fn every_course_change_replaces_revision(fixture: &impl CourseFixture) {
    let mut before @ Some(_) = seed_and_read_revision(fixture).await else { return };
    let first = whole_course("a", "c");
    for (what, changed) in variants(fixture, &first) {
        seed(fixture, &[changed]).await;
        before = replaced(fixture, "a", before, &format!("a change of {what}")).await;
        seed(fixture, [&first]).await;
        before = replaced(fixture, "a", before, &format!("reverting a change of {what}")).await;
    }
}

/// A write of one module that is not a write of its course replaces the revision: a change, an addition and a removal.
pub async fn module_change_replaces_revision(fixture: &impl CourseFixture) {
    let mut before @ Some(_) = seed_and_read_revision(fixture).await else { return };
    let (account, first) = (fixture.account("a").await, whole_course("a", "c"));
    for (what, changed) in variants(fixture, &first) {
        let [old, new] = [&first, &changed].map(|course| detail_of(fixture, course).modules);
        let mut differing = (0..old.len().max(new.len())).filter(|&index| old.get(index) != new.get(index));
        let (Some(index), None) = (differing.next(), differing.next()) else { continue };
        for course in [&changed, &first] {
            let stored = as_stored(fixture, course);
            if !fixture.put_module(&account, "c", index as u32 + 1, stored.modules.get(index)).await {
                return skip("the fixture does not write single modules");
            }
            assert_found(fixture, course, &format!("A course is found with its current content: {what}.")).await;
            before = replaced(fixture, "a", before, &format!("a change of only {what}")).await;
        }
    }
}

/// An added, a changed and a removed course replace their account's revision, even without modules.
pub async fn removing_course_replaces_revision(fixture: &impl CourseFixture) {
    let Some(_) = seed_and_read_revision(fixture).await else { return };
    for slug in ["1", "c2"] {
        let before = revision(fixture, "a").await;
        seed(fixture, &[course("a", slug)]).await;
        let before = replaced(fixture, "a", before, "an added course").await;
        seed(fixture, &[Course { title: "Changed".to_owned(), ..course("a", slug) }]).await;
        let before = replaced(fixture, "a", before, "a changed course without modules").await;
        remove(fixture, "a", slug).await;
        replaced(fixture, "a", before, "a removed course").await;
    }
}

/// A change to one account's courses does not affect the revisions of the others.
pub async fn changes_do_not_affect_revisions_of_other_accounts(fixture: &impl CourseFixture) {
    let Some(_) = seed_and_read_revision(fixture).await else { return };
    if !fixture.has_per_account_revisions() {
        return skip("a change replaces the revisions of all accounts");
    }
    let before = revision(fixture, "b").await;
    seed(fixture, &[course("a", "added"), course("B", "c"), course("b ", "c")]).await;
    for (_, changed) in variants(fixture, &whole_course("a", "c")) {
        seed(fixture, &[changed]).await;
    }
    remove(fixture, "a", "c").await;
    assert_eq!(revision(fixture, "b").await, before, "Changing an account's courses leaves other revisions unchanged.");
}

/// Accounts whose courses differ never have the same revision.
pub async fn accounts_with_different_courses_have_different_revisions(fixture: &impl CourseFixture) {
    let Some(_) = seed_and_read_revision(fixture).await else { return };
    let own = |number| course(&format!("account {number}"), &format!("own-{number}"));
    let courses: Vec<_> = (0..50).map(own).collect();
    seed(fixture, &courses).await;
    let mut seen_revisions = HashSet::new();
    for course in &courses {
        let revision = revision(fixture, course.account.as_str()).await;
        assert!(seen_revisions.insert(revision), "Revisions are equal only if the courses are, even across accounts.");
    }
}

/// A revision is never reused, even if the content returns to an earlier state.
pub async fn revision_is_never_reused(fixture: &impl CourseFixture) {
    let before @ Some(_) = seed_and_read_revision(fixture).await else { return };
    let mut seen_revisions = HashSet::from([before]);
    for round in 0..60 {
        match round % 3 {
            2 => remove(fixture, "a", "c").await,
            rest => seed(fixture, &[Course { hidden: rest == 1, ..whole_course("a", "c") }]).await,
        }
        let now = revision(fixture, "a").await;
        // Round 0 puts the stored course again.
        assert!(round == 0 || seen_revisions.insert(now), "A revision is never reused, even if old content returns.");
    }
}
