//! Reads after a course was changed, removed and put again.

use catalogue_core::Course;

use crate::CourseFixture;
use crate::reading::{assert_listed, assert_listed_and_found, find};
use crate::seed::{course, course_at, course_of, modules, remove, seed, time};
use crate::variants::{variants, whole_course};

/// A changed course is returned once, with its current content.
pub async fn changed_course_is_returned_with_current_content(fixture: &impl CourseFixture) {
    let first = whole_course("a", "c");
    for (what, changed) in variants(fixture, &first) {
        for now in [&first, &changed] {
            seed(fixture, [now]).await;
            assert_listed_and_found(
                fixture,
                "a",
                [now],
                &format!("A course is listed once, with its current content: {what}."),
            )
            .await;
        }
    }
}

/// A course with a new creation time moves in the list.
pub async fn changed_creation_time_moves_course_in_list(fixture: &impl CourseFixture) {
    let mut courses = ["a", "b", "c", "d"].map(|slug| course("a", slug));
    seed(fixture, &courses).await;
    for (index, microseconds) in [(1, 10), (1, -10), (2, 1_000_000), (3, -1_000_000), (1, 0)] {
        courses[index].created_at = time(microseconds);
        seed(fixture, [&courses[index]]).await;
        assert_listed(fixture, "a", &courses, "A course with a new creation time moves in the list.").await;
    }
}

/// A removed course is neither listed nor found; the others stay.
pub async fn removed_course_is_not_returned(fixture: &impl CourseFixture) {
    let courses = ["a", "b", "c"].map(|slug| course_of("a", slug, 2));
    seed(fixture, &courses).await;
    remove(fixture, "a", "b").await;
    let rule = "A removed course is not listed; other courses and their modules are.";
    assert_listed_and_found(fixture, "a", [&courses[0], &courses[2]], rule).await;
    assert_eq!(find(fixture, "a", "b").await, None, "A removed course is not found.");
}

/// A course that is put again after its removal has nothing of the removed one.
pub async fn recreated_course_has_no_data_of_removed_one(fixture: &impl CourseFixture) {
    let before = Course {
        modules: modules(5),
        tagline: "Before".to_owned(),
        access_mode: Some("free".to_owned()),
        ..course_at("a", "again", 9)
    };
    for after in [course("a", "again"), Course { modules: modules(2), ..course_at("a", "again", 1) }] {
        seed(fixture, [&before]).await;
        remove(fixture, "a", "again").await;
        seed(fixture, [&after]).await;
        assert_listed_and_found(
            fixture,
            "a",
            [&after],
            "A recreated course is stored once, with no old modules or fields.",
        )
        .await;
    }
}
