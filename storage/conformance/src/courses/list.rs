//! Contents of a list, and their order.

use catalogue_core::{Course, Timestamp};

use crate::CourseFixture;
use crate::reading::{assert_last_page, assert_listed, slugs};
use crate::seed::{course, course_of, remove, seed, time};

/// An account without courses has one page, which is empty and has no next page, and so has an unknown account.
pub async fn account_without_courses_has_empty_page(fixture: &impl CourseFixture) {
    seed(fixture, &[course("empty", "a"), course("other", "a")]).await;
    remove(fixture, "empty", "a").await;
    for limit in [1, 50, 100] {
        for account in ["empty", "unknown", "", "empt", "empty ", "%", "' OR ''='"] {
            let rule = "The list of an account without courses, or of an unknown one, is empty.";
            assert_last_page(fixture, account, limit, None, &[], rule).await;
        }
    }
}

/// Courses with the same creation time are sorted by slug, descending, by the bytes of UTF-8 and no other collation.
pub async fn ties_are_ordered_by_descending_slug_bytes(fixture: &impl CourseFixture) {
    // From low to high by bytes. A locale puts "B" after "a" and ignores "-"; UTF-16 puts U+FF5E and U+FFFD last.
    let slugs_of_all_kinds = " |%|-|1|10|2|A|B|Z|_|a|a |a-|a-b|a.|a0|aB|ab|b|cafe\u{301}|caf\u{e9}|z|\u{df}|\u{e4}|\
        \u{131}|\u{3b1}|\u{5d0}|\u{4e2d}|\u{ff5e}|\u{fffd}|\u{1f917}|\u{10ffff}";
    let mut ascending: Vec<_> = slugs_of_all_kinds.split('|').collect();
    assert!(ascending.is_sorted(), "this case lists its slugs from low to high");
    ascending.retain(|slug| fixture.accepts_slug(slug));
    // Put in an order that is neither that of the list nor its reverse.
    let shuffled = (0..ascending.len()).map(|index| ascending[index * 101 % ascending.len()]);
    let courses: Vec<_> = shuffled.map(|slug| course("a", slug)).collect();
    seed(fixture, &courses).await;
    ascending.reverse();
    let rule = "Courses with equal creation times are ordered by slug, descending, byte by byte.";
    assert_eq!(slugs(fixture, "a").await, ascending, "{rule}");
}

/// Courses that are unpublished, hidden or both are listed: they are the caller's own.
pub async fn unpublished_and_hidden_courses_are_listed(fixture: &impl CourseFixture) {
    let courses = [
        ("neither", None, false),
        ("hidden", None, true),
        ("out", Some(time(1)), false),
        ("both", Some(time(2)), true),
        ("later", Some(Timestamp::MAX), false),
    ]
    .map(|(slug, published_at, hidden)| Course { published_at, hidden, ..course("a", slug) });
    seed(fixture, &courses).await;
    assert_listed(fixture, "a", &courses, "Courses that are unpublished or hidden are listed.").await;
}

/// The module count is the number of the course's own modules, including zero.
pub async fn module_count_equals_number_of_modules(fixture: &impl CourseFixture) {
    let counts = [("none", 0), ("one", 1), ("two", 2), ("many", 300)];
    let courses = counts.map(|(slug, count)| course_of("a", slug, count));
    // Another account's courses of the same slugs have other numbers of modules.
    let other_courses = counts.map(|(slug, count)| course_of("b", slug, count + 3));
    seed(fixture, courses.iter().chain(&other_courses)).await;
    assert_listed(fixture, "a", &courses, "The module count is the number of the course's modules.").await;
    assert_listed(fixture, "b", &other_courses, "The module count is the number of the course's modules.").await;
}
