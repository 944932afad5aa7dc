//! One course, found by its account and its slug.

use catalogue_core::{Course, MAX_SLUG_BYTES};

use crate::CourseFixture;
use crate::reading::{assert_found, detail_of, find};
use crate::seed::{course, course_of, module, remove, seed};

/// Modules are in order, numbered from 1, and equal ones are all stored.
pub async fn modules_are_ordered_and_numbered_from_one(fixture: &impl CourseFixture) {
    let titles = ["Welcome", "a", "Z", "", "10", "9", "b", "B", "\u{e4}", "Summary", "Welcome!", "1", "a", "a"];
    let course = Course { modules: titles.map(module).into(), ..course("a", "ordered") };
    let many = course_of("a", "many", 120);
    seed(fixture, [&course, &many]).await;
    for course in [course, many] {
        let found = find(fixture, "a", &course.slug).await.expect("the course was put");
        let numbers: Vec<_> = found.modules.iter().map(|module| module.number).collect();
        let expected: Vec<_> = (1..).take(course.modules.len()).collect();
        assert_eq!(numbers, expected, "Modules are numbered from 1 without a gap.");
        assert_eq!(found, detail_of(fixture, &course), "Modules are in their order.");
    }
}

/// A nonexistent course is `None`, in an account with courses, in one without, and in an unknown one.
pub async fn missing_course_returns_none(fixture: &impl CourseFixture) {
    seed(fixture, &[course("a", "there"), course("a", "gone"), course("empty", "gone")]).await;
    remove(fixture, "a", "gone").await;
    remove(fixture, "empty", "gone").await;
    for account in ["a", "empty", "unknown", ""] {
        for slug in ["absent", "gone", "", "the", "there/", "therethere"] {
            assert_eq!(find(fixture, account, slug).await, None, "A nonexistent course returns None, not an error.");
        }
    }
    assert_eq!(find(fixture, "unknown", "there").await, None, "An unknown account has no courses.");
}

/// Slugs that differ in any byte name different courses: case, spaces, normal forms, digits that make one number.
/// A slug is data, even if it looks like SQL.
pub async fn slugs_are_compared_by_bytes(fixture: &impl CourseFixture) {
    let sql = "' OR '1'='1|'; DROP TABLE courses; --|\"; DELETE FROM course|a') UNION SELECT 1 --|$1|?1|:slug|{}|%s|\\'|\
        `x`|$$x$$|E'\\x41'|[0]";
    let sql: Vec<_> = sql.split('|').chain(["plain"]).collect();
    let groups: [&[&str]; 10] = [
        &sql,
        &["course", "Course", "COURSE", "course ", " course", "course\u{a0}", "course\u{200b}", "cour\u{ad}se"],
        &["caf\u{e9}", "cafe\u{301}", "cafe", "CAF\u{c9}"],
        &["1", "01", "1.0", "1e0", "+1", "\u{661}", "\u{ff11}", "\u{b9}"],
        &["stra\u{df}e", "strasse", "stra\u{1e9e}e"],
        &["i", "I", "\u{131}", "\u{130}", "i\u{307}"],
        &["\u{fb01}n", "fin", "\u{212b}", "\u{c5}", "A\u{30a}", "\u{ff21}", "A"],
        &["a", "a-", "a.", "a_", "a%", "ab", "a\\", "a\\_", "a*", "a?"],
        &["null", "NULL", "true", "TRUE", "0x1"],
        &["\u{1f917}", "\u{1f917}\u{fe0f}", "\u{202e}a", "\u{feff}a", "a+b", "a b", "a%20b"],
    ];
    for slugs in groups {
        let group: Vec<_> = slugs.iter().filter(|slug| fixture.accepts_slug(slug)).collect();
        for slug in &group {
            // First each slug alone in an account: a lookup of another slug must find nothing.
            let account = format!("with {slug:?}");
            seed(fixture, &[course(&account, slug)]).await;
            for other in slugs {
                let expected = (other == *slug).then(|| detail_of(fixture, &course(&account, slug)));
                let found = find(fixture, &account, other).await;
                assert_eq!(found, expected, "Slugs are compared byte by byte: {slug:?} and {other:?}.");
            }
        }
        let together: Vec<_> = group.iter().map(|slug| course("together", slug)).collect();
        seed(fixture, &together).await;
        for course in together {
            assert_found(fixture, &course, "Slugs that differ in a byte name different courses.").await;
        }
    }
}

/// A slug may have as many bytes as the contract allows, or as the tables can store, and all of them are significant.
pub async fn longest_slugs_are_distinguished(fixture: &impl CourseFixture) {
    let wide = "\u{1f917}".repeat(MAX_SLUG_BYTES / 4 - 1);
    let lengths = (4..=MAX_SLUG_BYTES).rev().map(|bytes| "x".repeat(bytes - 4));
    let narrow = lengths.into_iter().find(|stem| fixture.accepts_slug(&format!("{stem}aaaa")));
    let narrow = narrow.expect("the tables accept plain slugs");
    for stem in [wide, narrow] {
        let slugs = ["aaaa", "aaab", "\u{1f917}"].map(|end| format!("{stem}{end}"));
        let accepted = slugs.iter().filter(|slug| fixture.accepts_slug(slug));
        let courses: Vec<_> = accepted.map(|slug| course("a", slug)).collect();
        seed(fixture, &courses).await;
        for course in &courses {
            assert_found(fixture, course, &format!("All {} bytes of a slug are significant.", course.slug.len())).await;
        }
        assert_eq!(find(fixture, "a", &stem).await, None, "A course is not found by a prefix of its slug.");
    }
}
