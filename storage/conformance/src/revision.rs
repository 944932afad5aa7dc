//! The revision of an account's courses, where a storage keeps one.

use std::collections::HashSet;

use catalogue_core::{Course, CourseStorage, Revision};

use crate::Storage;
use crate::import::{variants, whole_course};
use crate::reading::{find, list};
use crate::seed::{account, course, id, modules, remove, seed};

/// The revision of an account that has courses, or had some.
async fn revision(storage: &impl CourseStorage, account: &str) -> Option<Revision> {
    storage.revision(&id(account)).await.expect("a revision can be read")
}

/// Whether the storage keeps revisions; where it keeps none, the cases here have nothing to hold it to.
async fn keeps_revisions(storage: &impl Storage) -> bool {
    seed(storage, &[whole_course("a", "c"), whole_course("b", "c")]).await;
    revision(storage, "a").await.is_some()
}

/// Asserts that the account's revision is not `before`, and returns it.
async fn replaced(storage: &impl CourseStorage, account: &str, before: Option<Revision>, by: &str) -> Option<Revision> {
    let now = revision(storage, account).await;
    assert!(now.is_some(), "A storage that keeps revisions has one for every account with courses.");
    assert_ne!(now, before, "A revision is replaced by {by}.");
    now
}

/// A revision stays while nothing changes, however much is read.
pub async fn a_revision_stays_while_nothing_changes(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let before = revision(storage, "a").await;
    for _ in 0..3 {
        list(storage, "a").await;
        find(storage, "a", "c").await;
        find(storage, "a", "absent").await;
        assert_eq!(revision(storage, "a").await, before, "A revision stays while nothing changes.");
    }
}

/// A course that is added replaces its account's revision.
pub async fn adding_a_course_replaces_the_revision(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let mut before = revision(storage, "a").await;
    for slug in ["1", "2", "C"] {
        seed(storage, &[course("a", slug)]).await;
        before = replaced(storage, "a", before, "a course that is added").await;
    }
}

/// A change of any field of a course or module replaces the revision, modules' bodies and order included.
pub async fn every_change_of_a_course_replaces_the_revision(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let first = whole_course("a", "c");
    let mut before = revision(storage, "a").await;
    for (what, changed) in variants(&first) {
        seed(storage, &[changed]).await;
        before = replaced(storage, "a", before, &format!("a change of {what}")).await;
        seed(storage, [&first]).await;
        before = replaced(storage, "a", before, &format!("taking back a change of {what}")).await;
    }
}

/// A course that is removed or pruned replaces its account's revision.
pub async fn removing_and_pruning_replace_the_revision(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    seed(storage, &[course("a", "removed"), course("a", "pruned")]).await;
    let before = revision(storage, "a").await;
    remove(storage, "a", "removed").await;
    let before = replaced(storage, "a", before, "a course that is removed").await;
    let mut import = storage.begin_import().await.expect("an import begins while no other runs");
    import.put_account(&account("a")).await.expect("an account can be put");
    import.put_course(&whole_course("a", "c")).await.expect("a course of a known account can be put");
    assert_eq!(import.prune().await.ok(), Some(1), "Pruning removes the course that was not put.");
    import.commit().await.expect("an import can be committed");
    replaced(storage, "a", before, "a course that is pruned").await;
}

/// A change to one account's courses leaves the revisions of the others.
pub async fn a_revision_belongs_to_one_account(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let before = revision(storage, "b").await;
    seed(storage, &[course("a", "added"), course("B", "c"), course("b ", "c")]).await;
    for (_, changed) in variants(&whole_course("a", "c")) {
        seed(storage, &[changed]).await;
    }
    remove(storage, "a", "c").await;
    assert_eq!(revision(storage, "b").await, before, "A change to one account's courses leaves the others' revisions.");
}

/// Accounts whose courses differ never have the same revision.
pub async fn accounts_with_different_courses_have_different_revisions(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let accounts: Vec<_> = (0..50).map(|number| format!("account {number}")).collect();
    let courses: Vec<_> = accounts.iter().map(|account| course(account, &format!("own of {account}"))).collect();
    seed(storage, &courses).await;
    let mut seen = HashSet::new();
    for account in &accounts {
        let revision = revision(storage, account).await;
        assert!(seen.insert(revision), "Revisions are equal only where the courses are, across accounts too.");
    }
}

/// No revision comes back, also where content returns to what it was.
pub async fn no_revision_ever_comes_back(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let mut seen = HashSet::from([revision(storage, "a").await]);
    for round in 0..60 {
        if round % 3 == 2 {
            remove(storage, "a", "c").await;
        } else {
            let hidden = round % 3 == 1;
            seed(storage, &[Course { hidden, ..whole_course("a", "c") }]).await;
        }
        let now = revision(storage, "a").await;
        // Round 0 puts what is there.
        assert!(round == 0 || seen.insert(now), "A revision is never used again, also when content returns.");
    }
}

/// An import that is under way, and one that is dropped, leave the revision.
pub async fn an_import_without_commit_leaves_the_revision(storage: &impl Storage) {
    if !keeps_revisions(storage).await {
        return;
    }
    let before = revision(storage, "a").await;
    let mut import = storage.begin_import().await.expect("an import begins while no other runs");
    import.put_account(&account("a")).await.expect("an account can be put");
    import.put_course(&course("a", "added")).await.expect("a course of a known account can be put");
    import.prune().await.expect("an import can prune");
    assert_eq!(revision(storage, "a").await, before, "An import leaves the revision before its commit.");
    drop(import);
    assert_eq!(revision(storage, "a").await, before, "An import that is dropped leaves the revision.");
    seed(storage, &[Course { modules: modules(1), ..course("a", "added") }]).await;
    replaced(storage, "a", before, "a commit after an import that was dropped").await;
}
