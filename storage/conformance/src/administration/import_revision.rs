//! Effects of an import on revisions, if the storage has them.

use catalogue_core::Course;

use crate::Storage;
use crate::courses::revision::{replaced, revision, seed_and_read_revision};
use crate::seed::{account, course, modules, prune, seed};
use crate::variants::whole_course;

/// A pruned course replaces its account's revision.
pub async fn pruning_replaces_revision(storage: &impl Storage) {
    let Some(_) = seed_and_read_revision(storage).await else { return };
    seed(storage, &[course("a", "pruned")]).await;
    let before = revision(storage, "a").await;
    let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
    import.put_account(&account("a")).await.expect("an account can be put");
    import.put_course(&whole_course("a", "c")).await.expect("a course of a known account can be put");
    assert_eq!(prune(&mut *import).await, ["a/pruned"], "Pruning removes the course that was not put.");
    import.commit().await.expect("an import can be committed");
    replaced(storage, "a", before, "a pruned course").await;
}

/// An import that is open or dropped leaves the revision unchanged.
pub async fn uncommitted_import_leaves_revision_unchanged(storage: &impl Storage) {
    let before @ Some(_) = seed_and_read_revision(storage).await else { return };
    let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
    import.put_account(&account("a")).await.expect("an account can be put");
    import.put_course(&course("a", "added")).await.expect("a course of a known account can be put");
    import.prune().await.expect("an import can prune");
    assert_eq!(revision(storage, "a").await, before, "An import leaves the revision unchanged before its commit.");
    drop(import);
    assert_eq!(revision(storage, "a").await, before, "A dropped import leaves the revision unchanged.");
    seed(storage, &[Course { modules: modules(1), ..course("a", "added") }]).await;
    replaced(storage, "a", before, "a commit after a dropped import").await;
}
