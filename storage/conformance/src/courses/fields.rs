//! Reads return what was put: texts byte by byte, times to the microsecond.

use catalogue_core::{Course, Timestamp};

use crate::CourseFixture;
use crate::reading::assert_listed_and_found;
use crate::seed::{course, instant, module, seed, time};
use crate::texts::unusual_courses;

/// Every text of a course, and of the headers of its modules, is stored byte by byte. An empty one is neither absent nor
/// replaced by a module's body.
pub async fn course_texts_are_stored_unchanged(fixture: &impl CourseFixture) {
    let courses = unusual_courses();
    seed(fixture, &courses).await;
    assert_listed_and_found(fixture, "a", &courses, "A list and a course contain every text as it was put.").await;
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

/// Both times of a course are stored with the tables' precision, before 1970 and at both ends of a timestamp's range. A list is
/// sorted by creation time, newest first.
pub async fn times_are_stored_to_declared_precision(fixture: &impl CourseFixture) {
    let courses = courses_of_all_times();
    seed(fixture, &courses).await;
    let rule = "Times are stored to the declared precision, and courses are listed newest first.";
    assert_listed_and_found(fixture, "a", &courses, rule).await;
}
