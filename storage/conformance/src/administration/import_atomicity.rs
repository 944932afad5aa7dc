//! An import is atomic, prunes only the accounts that it has put, and replaces revisions when it is committed.

use catalogue_core::Course;
use catalogue_core::admin::{Account, Change, Record};

use crate::Storage;
use crate::courses::revision::{replaced, revision, seed_and_read_revision};
use crate::credential_lookup::assert_stored;
use crate::key_calls::create;
use crate::reading::{assert_listed, export, find, slugs};
use crate::seed::{account, api_key, begin, course, course_at, course_of, modules, prune, seed, time};
use crate::variants::whole_course;

/// An import is invisible before its commit, and completely visible afterwards. A dropped import changes nothing, and does not
/// block the next. Neither changes credentials.
pub async fn import_is_invisible_before_commit(storage: &impl Storage) {
    let old = [course_of("a", "changed", 1), course_at("a", "pruned", 1)];
    seed(storage, &old).await;
    let credential = create(storage, &api_key("a", "key_1", "token-1")).await;
    let before = export(storage).await;
    let accounts = [Account { name: "Renamed".to_owned(), ..account("a") }, account("b")];
    let new = [
        Course { title: "Changed".to_owned(), modules: modules(2), ..course("a", "changed") },
        course_at("a", "added", 2),
        course("b", "of a new account"),
    ];
    for commits in [false, false, true] {
        let mut import = begin(storage).await;
        let rule = "An import sees what is stored, and nothing of a dropped import.";
        for (account, change) in accounts.iter().zip([Change::Changed, Change::Added]) {
            assert_eq!(import.put_account(account).await.ok(), Some(change), "{rule}");
        }
        for (course, change) in new.iter().zip([Change::Changed, Change::Added, Change::Added]) {
            assert_eq!(import.put_course(course).await.ok(), Some(change), "{rule}");
        }
        assert_eq!(prune(&mut *import).await, ["a/pruned"], "Pruning removes the course that was not put.");
        assert_listed(storage, "a", &old, "Nothing of an import is listed before its commit.").await;
        assert_eq!(find(storage, "a", "added").await, None, "Nothing of an import is found before its commit.");
        assert_eq!(slugs(storage, "b").await, [""; 0], "Nothing of an import is listed before its commit.");
        assert_eq!(export(storage).await, before, "Nothing of an import is exported before its commit.");
        if commits {
            import.commit().await.expect("an import can be committed");
        } else {
            drop(import);
            assert_eq!(export(storage).await, before, "A dropped import changes nothing.");
            assert_listed(storage, "a", &old, "A dropped import changes nothing.").await;
        }
    }
    assert_listed(storage, "a", &new[..2], "All of an import is stored after its commit.").await;
    let [changed, added, of_b] = new;
    let records = accounts.map(Record::Account).into_iter().chain([added, changed, of_b].map(Record::Course));
    assert_eq!(export(storage).await, Vec::from_iter(records), "All of an import is stored after its commit.");
    assert_stored(storage, &credential, "An import leaves credentials unchanged.").await;
}

/// Pruning removes the courses that the import has not put, of accounts that it has put, and returns them.
pub async fn prune_removes_courses_that_were_not_put(storage: &impl Storage) {
    let course = |account, slug| course_of(account, slug, 2);
    let kept = [course("a", "same"), course("a", "changed"), course("b", "same")];
    let pruned = [course("a", "x"), course("a", "Same"), course("a", "same "), course("b", "changed")];
    seed(storage, kept.iter().chain(&pruned)).await;
    let mut import = begin(storage).await;
    let renamed = Account { name: "Renamed".to_owned(), ..account("b") };
    for account in [&account("a"), &renamed] {
        import.put_account(account).await.expect("an account can be put");
    }
    let changed = Course { title: "Changed".to_owned(), ..kept[1].clone() };
    let added = Course { created_at: time(1), ..course("a", "added") };
    for put in [&kept[0], &changed, &kept[2], &added] {
        import.put_course(put).await.expect("a course of a known account can be put");
    }
    assert_eq!(
        prune(&mut *import).await,
        ["a/Same", "a/same ", "a/x", "b/changed"],
        "Pruning returns the removed courses."
    );
    assert_eq!(prune(&mut *import).await, [""; 0], "Pruning again removes nothing.");
    import.commit().await.expect("an import can be committed");
    let left = [&kept[0], &changed, &added];
    assert_listed(storage, "a", left, "Pruning removes only courses that the import has not put.").await;
    assert_listed(storage, "b", &kept[2..], "Pruning removes courses that the import has not put.").await;
    for course in &pruned {
        let found = find(storage, course.account.as_str(), &course.slug).await;
        assert_eq!(found, None, "A pruned course is not found.");
    }
}

/// Pruning does not affect accounts that the import has not put, even if it has put a course of them.
pub async fn prune_leaves_other_accounts_unchanged(storage: &impl Storage) {
    let courses = [course("a", "1"), course("b", "1"), course("b", "2"), course("c", "1"), course("A", "1")];
    seed(storage, &courses).await;
    let before = export(storage).await;
    let mut import = begin(storage).await;
    assert_eq!(prune(&mut *import).await, [""; 0], "Pruning before any account is put removes nothing.");
    import.put_course(&courses[1]).await.expect("a course of a known account can be put");
    assert_eq!(prune(&mut *import).await, [""; 0], "Pruning does not affect accounts that the import has not put.");
    import.put_account(&account("new")).await.expect("an account can be put");
    assert_eq!(prune(&mut *import).await, [""; 0], "A new account has nothing to prune.");
    drop(import);
    let mut import = begin(storage).await;
    import.put_account(&account("a")).await.expect("an account can be put");
    import.put_course(&courses[1]).await.expect("a course of a known account can be put");
    assert_eq!(prune(&mut *import).await, ["a/1"], "Pruning an account removes its courses that were not put.");
    import.commit().await.expect("an import can be committed");
    let expected: Vec<_> = before.into_iter().filter(|record| *record != Record::Course(courses[0].clone())).collect();
    assert_eq!(export(storage).await, expected, "Pruning does not affect accounts that the import has not put.");
}

/// An import replaces the revision when it is committed, even if it only prunes; an open or dropped one leaves it unchanged.
pub async fn import_replaces_revision_only_when_committed(storage: &impl Storage) {
    let Some(_) = seed_and_read_revision(storage).await else { return };
    seed(storage, &[course("a", "pruned")]).await;
    let before = revision(storage, "a").await;
    for commits in [false, true] {
        let mut import = begin(storage).await;
        import.put_account(&account("a")).await.expect("an account can be put");
        import.put_course(&whole_course("a", "c")).await.expect("a course of a known account can be put");
        assert_eq!(prune(&mut *import).await, ["a/pruned"], "Pruning removes the course that was not put.");
        assert_eq!(revision(storage, "a").await, before, "An import leaves the revision unchanged before its commit.");
        if commits {
            import.commit().await.expect("an import can be committed");
        } else {
            drop(import);
            assert_eq!(revision(storage, "a").await, before, "A dropped import leaves the revision unchanged.");
        }
    }
    replaced(storage, "a", before, "a pruned course").await;
}
