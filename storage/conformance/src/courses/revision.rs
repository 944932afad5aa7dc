//! The revision of an account's courses, where a storage keeps one.

use std::collections::HashSet;

use catalogue_core::{Course, CourseStorage, Limit, PageRequest, Position, Revision, Timestamp};

use crate::CourseFixture;
use crate::reading::{find, list};
use crate::seed::{course, remove, seed};
use crate::variants::{variants, whole_course};

/// The revision of an account that has courses, or had some.
pub(crate) async fn revision(fixture: &impl CourseFixture, account: &str) -> Option<Revision> {
    let account = fixture.account(account).await;
    fixture.storage().revision(&account).await.expect("A revision can be read.")
}

/// Whether the storage keeps revisions; where it keeps none, the cases here have nothing to hold it to.
pub(crate) async fn keeps_revisions(fixture: &impl CourseFixture) -> bool {
    seed(fixture, &[whole_course("a", "c"), whole_course("b", "c")]).await;
    revision(fixture, "a").await.is_some()
}

/// Asserts that the account's revision is not `before`, and returns it.
pub(crate) async fn replaced(
    fixture: &impl CourseFixture,
    account: &str,
    before: Option<Revision>,
    by: &str,
) -> Option<Revision> {
    let now = revision(fixture, account).await;
    assert!(now.is_some(), "A storage that keeps revisions has one for every account with courses.");
    assert_ne!(now, before, "A revision is replaced by {by}.");
    now
}

/// A revision stays while nothing changes, however much is read.
pub async fn a_revision_stays_while_nothing_changes(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let before = revision(fixture, "a").await;
    for _ in 0..3 {
        list(fixture, "a").await;
        find(fixture, "a", "c").await;
        find(fixture, "a", "absent").await;
        assert_eq!(revision(fixture, "a").await, before, "A revision stays while nothing changes.");
    }
}

/// Whatever is read brings the current revision along, or none.
pub async fn reads_bring_the_current_revision(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    for slug in ["c2", "c3"] {
        seed(fixture, &[course("a", slug)]).await;
        for account in ["a", "b", "nobody"] {
            let now = revision(fixture, account).await;
            let page = visited_at(fixture, account, None).await;
            let detail = found_at(fixture, account, "c").await;
            let absent = found_at(fixture, account, "absent").await;
            let after = Position { created_at: Timestamp::MIN, slug: String::new() };
            let empty = visited_at(fixture, account, Some(after)).await;
            for brought in [page, detail, absent, empty] {
                assert!(brought.is_none() || brought == now, "What was read brings the current revision, or none.");
            }
            let has_courses = account != "nobody";
            assert!(!has_courses || (page.is_some() && detail.is_some()), "Courses bring their revision along.");
        }
    }
}

async fn visited_at(fixture: &impl CourseFixture, account: &str, after: Option<Position>) -> Option<Revision> {
    let page = PageRequest { limit: Limit::default(), after };
    let read = fixture.storage().visit_courses(&fixture.account(account).await, &page, &mut |_| {}).await;
    read.expect("A list can be read, also of an account without courses and after any place.").revision
}

async fn found_at(fixture: &impl CourseFixture, account: &str, slug: &str) -> Option<Revision> {
    let read = fixture.storage().find_course_at_revision(&fixture.account(account).await, slug).await;
    read.expect("A course can be asked for; one that does not exist is None, not an error.").revision
}

/// A course that is added replaces its account's revision.
pub async fn adding_a_course_replaces_the_revision(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let mut before = revision(fixture, "a").await;
    for slug in ["1", "2", "c2"] {
        seed(fixture, &[course("a", slug)]).await;
        before = replaced(fixture, "a", before, "a course that is added").await;
    }
}

/// A change of any field of a course or module replaces the revision, modules' bodies and order included.
pub async fn every_change_of_a_course_replaces_the_revision(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let first = whole_course("a", "c");
    let mut before = revision(fixture, "a").await;
    for (what, changed) in variants(fixture, &first) {
        seed(fixture, &[changed]).await;
        before = replaced(fixture, "a", before, &format!("a change of {what}")).await;
        seed(fixture, [&first]).await;
        before = replaced(fixture, "a", before, &format!("taking back a change of {what}")).await;
    }
}

/// A course that is removed replaces its account's revision.
pub async fn removing_a_course_replaces_the_revision(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    seed(fixture, &[course("a", "removed")]).await;
    let before = revision(fixture, "a").await;
    remove(fixture, "a", "removed").await;
    replaced(fixture, "a", before, "a course that is removed").await;
}

/// A change to one account's courses leaves the revisions of the others.
pub async fn a_revision_belongs_to_one_account(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let before = revision(fixture, "b").await;
    seed(fixture, &[course("a", "added"), course("B", "c"), course("b ", "c")]).await;
    for (_, changed) in variants(fixture, &whole_course("a", "c")) {
        seed(fixture, &[changed]).await;
    }
    remove(fixture, "a", "c").await;
    assert_eq!(revision(fixture, "b").await, before, "A change to one account's courses leaves the others' revisions.");
}

/// Accounts whose courses differ never have the same revision.
pub async fn accounts_with_different_courses_have_different_revisions(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let accounts: Vec<_> = (0..50).map(|number| format!("account {number}")).collect();
    let courses: Vec<_> =
        accounts.iter().enumerate().map(|(number, account)| course(account, &format!("own-{number}"))).collect();
    seed(fixture, &courses).await;
    let mut seen = HashSet::new();
    for account in &accounts {
        let revision = revision(fixture, account).await;
        assert!(seen.insert(revision), "Revisions are equal only where the courses are, across accounts too.");
    }
}

/// No revision comes back, also where content returns to what it was.
pub async fn no_revision_ever_comes_back(fixture: &impl CourseFixture) {
    if !keeps_revisions(fixture).await {
        return;
    }
    let mut seen = HashSet::from([revision(fixture, "a").await]);
    for round in 0..60 {
        if round % 3 == 2 {
            remove(fixture, "a", "c").await;
        } else {
            let hidden = round % 3 == 1;
            seed(fixture, &[Course { hidden, ..whole_course("a", "c") }]).await;
        }
        let now = revision(fixture, "a").await;
        // Round 0 puts what is there.
        assert!(round == 0 || seen.insert(now), "A revision is never used again, also when content returns.");
    }
}
