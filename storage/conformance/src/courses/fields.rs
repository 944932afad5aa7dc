//! Reads return what was put: texts byte by byte, times to the microsecond.

use catalogue_core::{Course, CourseModule, Timestamp};

use crate::CourseFixture;
use crate::reading::{assert_listed_and_found, find, list};
use crate::seed::{course, instant, module, seed, time};
use crate::texts::unusual_courses;

/// Every text of a course, and of the headers of its modules, is stored byte by byte.
pub async fn course_texts_are_stored_unchanged(fixture: &impl CourseFixture) {
    let courses = unusual_courses();
    seed(fixture, &courses).await;
    assert_listed_and_found(fixture, "a", &courses, "A list and a course contain every text as it was put.").await;
}

/// A module's body is not in any result, whatever its other fields.
pub async fn module_bodies_are_not_returned(fixture: &impl CourseFixture) {
    let content = "The body of a module";
    let modules = [("1", "A summary"), ("2", ""), ("", "")].map(|(title, summary)| CourseModule {
        title: title.to_owned(),
        summary: summary.to_owned(),
        content: format!("{content} {title}"),
    });
    seed(fixture, [&Course { modules: modules.into(), ..course("a", "c") }]).await;
    let results = format!("{:?} {:?}", list(fixture, "a").await, find(fixture, "a", "c").await);
    assert!(!results.contains(content), "A module's body is in no result: {results}.");
}

/// Absent and empty values differ.
pub async fn absent_and_empty_values_differ(fixture: &impl CourseFixture) {
    let absent = Course { access_mode: None, ..course("a", "absent") };
    let empty = Course { access_mode: Some(String::new()), ..course("a", "empty") };
    seed(fixture, [&absent, &empty]).await;
    assert_listed_and_found(fixture, "a", [&absent, &empty], "An absent access mode is None, an empty one is empty.")
        .await;
}

/// Returns courses with times before 1970, at both ends of a timestamp's range, and of other kinds.
pub(crate) fn courses_of_all_times() -> Vec<Course> {
    let times = [
        Timestamp::MIN,
        instant(Timestamp::MIN.as_microseconds() + 1),
        instant(-62_135_596_800_000_001), // the last microsecond before the year 1
        instant(-1_000_001),
        instant(-1),
        instant(0),
        instant(1),
        time(999_999),
        time(123_456),
        instant(i64::from(u32::MAX) * 1_000_000 + 1),
        instant((1 << 53) + 1), // the first number of microseconds that a double cannot represent
        instant(Timestamp::MAX.as_microseconds() - 1),
        Timestamp::MAX,
    ];
    times
        .into_iter()
        .enumerate()
        .map(|(index, time)| Course {
            created_at: time,
            published_at: Some(times[(index + 5) % times.len()]),
            modules: vec![module("m")],
            // Slugs in reverse order of the times: truncating two times to the same one changes the order of the list.
            ..course("a", &format!("time-{:02}", times.len() - index))
        })
        .collect()
}

/// Both times of a course are stored with the tables' precision, before 1970 and at both ends of a timestamp's range.
pub async fn times_are_stored_to_the_microsecond(fixture: &impl CourseFixture) {
    let courses = courses_of_all_times();
    seed(fixture, &courses).await;
    assert_listed_and_found(fixture, "a", &courses, "Times are stored to the microsecond.").await;
}
