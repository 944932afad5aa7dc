//! Removing one course.

use catalogue_core::Course;
use catalogue_core::admin::{AdminStorage, Record};

use crate::Storage;
use crate::reading::{export, slugs};
use crate::seed::{account, course, id, modules, remove, seed};

/// A removed course is not exported; the others are.
pub async fn removed_course_is_not_exported(storage: &impl Storage) {
    let courses = ["a", "b", "c"].map(|slug| Course { modules: modules(2), ..course("a", slug) });
    seed(storage, &courses).await;
    remove(storage, "a", "b").await;
    let [first, _, last] = courses;
    let records = [Record::Account(account("a")), Record::Course(first), Record::Course(last)];
    assert_eq!(export(storage).await, records, "A removed course is not exported, and the others are.");
}

/// Removing a course returns whether it existed.
pub async fn removing_returns_whether_course_existed(storage: &impl Storage) {
    seed(storage, &[course("a", "c"), course("b", "other")]).await;
    for (account, slug) in [("a", "C"), ("a", "c "), ("a", ""), ("a", "%"), ("a", "other"), ("b", "c"), ("x", "c")] {
        let existed =
            AdminStorage::remove_course(storage, &id(account), slug).await.expect("an unknown course is accepted");
        assert!(!existed, "Removing an unknown course returns false: {slug:?} of {account}.");
    }
    assert_eq!(slugs(storage, "a").await, ["c"], "Removing an unknown course removes no other.");
    for expected in [true, false] {
        let existed = AdminStorage::remove_course(storage, &id("a"), "c").await.expect("a course can be removed");
        assert_eq!(existed, expected, "Removing a course returns whether it existed.");
    }
    assert_eq!(slugs(storage, "b").await, ["other"], "Removing a course removes no other.");
}

/// An account outlives its last course.
pub async fn account_remains_after_its_last_course(storage: &impl Storage) {
    seed(storage, &[course("a", "only")]).await;
    remove(storage, "a", "only").await;
    assert_eq!(slugs(storage, "a").await, [""; 0], "A removed course is not listed.");
    let exported = export(storage).await;
    assert_eq!(exported, [Record::Account(account("a"))], "An account remains after its last course was removed.");
}
