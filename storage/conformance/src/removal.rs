//! Removing one course.

use catalogue_core::{Course, Record};

use crate::Storage;
use crate::reading::{detail_of, export, find, list, listed, slugs};
use crate::seed::{account, course, course_at, id, modules, remove, seed};

/// A removed course is neither listed, nor found, nor exported; the others stay.
pub async fn a_removed_course_is_gone(storage: &impl Storage) {
    let courses = ["a", "b", "c"].map(|slug| Course { modules: modules(2), ..course("a", slug) });
    seed(storage, &courses).await;
    remove(storage, "a", "b").await;
    let left = [courses[0].clone(), courses[2].clone()];
    assert_eq!(list(storage, "a").await, listed(&left), "A removed course is not listed, and the others are.");
    assert_eq!(find(storage, "a", "b").await, None, "A removed course is not found.");
    for course in &left {
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(course)), "Removing a course leaves the others and their modules.");
    }
    let records = [Record::Account(account("a"))].into_iter().chain(left.map(Record::Course));
    assert_eq!(export(storage).await, Vec::from_iter(records), "A removed course is not exported, and the others are.");
}

/// Removing says whether the course was there.
pub async fn removing_says_whether_it_was_there(storage: &impl Storage) {
    seed(storage, &[course("a", "c"), course("b", "other")]).await;
    for (account, slug) in [("a", "C"), ("a", "c "), ("a", ""), ("a", "%"), ("a", "other"), ("b", "c"), ("x", "c")] {
        let there = storage.remove_course(&id(account), slug).await.expect("an absent course is no error");
        assert!(!there, "Removing a course that is not there says so: {slug:?} of {account}.");
    }
    assert_eq!(slugs(storage, "a").await, ["c"], "Removing a course that is not there removes no other.");
    for expected in [true, false] {
        let there = storage.remove_course(&id("a"), "c").await.expect("a course can be removed");
        assert_eq!(there, expected, "Removing a course says whether it was there.");
    }
    assert_eq!(slugs(storage, "b").await, ["other"], "Removing a course removes no other.");
}

/// An account outlives its last course.
pub async fn an_account_outlives_its_last_course(storage: &impl Storage) {
    seed(storage, &[course("a", "only")]).await;
    remove(storage, "a", "only").await;
    assert_eq!(slugs(storage, "a").await, [""; 0], "A removed course is not listed.");
    let exported = export(storage).await;
    assert_eq!(exported, [Record::Account(account("a"))], "An account is there though its last course was removed.");
}

/// A course that is put again after its removal has nothing of the one before.
pub async fn a_course_put_again_has_nothing_of_the_one_before(storage: &impl Storage) {
    let before = Course {
        modules: modules(5),
        tagline: "Before".to_owned(),
        access_mode: Some("free".to_owned()),
        ..course_at("a", "again", 9)
    };
    for after in [course("a", "again"), Course { modules: modules(2), ..course_at("a", "again", 1) }] {
        seed(storage, [&before]).await;
        remove(storage, "a", "again").await;
        seed(storage, [&after]).await;
        let found = find(storage, "a", "again").await;
        assert_eq!(found, Some(detail_of(&after)), "A course that is put again has no old modules or fields.");
        assert_eq!(list(storage, "a").await, listed(&[after]), "A course that is put again is listed once.");
    }
}
