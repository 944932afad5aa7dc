//! One course, found by its account and its slug.

use catalogue_core::{Course, MAX_SLUG_BYTES, is_slug};

use crate::Storage;
use crate::reading::{detail_of, find, slugs};
use crate::seed::{course, module, modules, remove, seed, seed_accounts, time};

/// The modules are in their order, and the first is number 1.
pub async fn modules_are_in_order_and_numbered_from_one(storage: &impl Storage) {
    let titles = ["Welcome", "a", "Z", "", "10", "9", "b", "B", "\u{e4}", "Summary", "Welcome!", "1", "\u{1f917}"];
    let course = Course { modules: titles.map(module).into(), ..course("a", "ordered") };
    let many = Course { modules: modules(120), ..self::course("a", "many") };
    seed(storage, [&course, &many]).await;
    for course in [course, many] {
        let found = find(storage, "a", &course.slug).await.expect("it was put");
        let numbers: Vec<_> = found.modules.iter().map(|module| module.number).collect();
        let expected: Vec<_> = (1..).take(course.modules.len()).collect();
        assert_eq!(numbers, expected, "Modules are numbered from 1 without a gap.");
        assert_eq!(found, detail_of(&course), "Modules are in their order.");
    }
}

/// Modules that are equal to one another are all kept.
pub async fn equal_modules_are_all_kept(storage: &impl Storage) {
    let repeated = Course { modules: ["a", "b", "a", "a"].map(module).into(), ..course("a", "repeated") };
    seed(storage, [&repeated]).await;
    assert_eq!(find(storage, "a", "repeated").await, Some(detail_of(&repeated)), "Equal modules are all kept.");
}

/// A course without modules is found, and so is one that is unpublished or hidden.
pub async fn bare_unpublished_and_hidden_courses_are_found(storage: &impl Storage) {
    let bare = course("a", "bare");
    let hidden = Course { hidden: true, published_at: Some(time(5)), modules: modules(1), ..course("a", "hidden") };
    seed(storage, [&bare, &hidden]).await;
    assert_eq!(find(storage, "a", "bare").await, Some(detail_of(&bare)), "A course without modules is found.");
    assert_eq!(find(storage, "a", "hidden").await, Some(detail_of(&hidden)), "A hidden course is found.");
}

/// A course that does not exist is none, in an account that has courses, in one that has none and in one unknown.
pub async fn an_absent_course_is_none(storage: &impl Storage) {
    seed_accounts(storage, &["empty"]).await;
    seed(storage, &[course("a", "there"), course("a", "gone")]).await;
    remove(storage, "a", "gone").await;
    for account in ["a", "empty", "unknown", ""] {
        for slug in ["absent", "gone", "", "the", "there/", "therethere"] {
            assert_eq!(find(storage, account, slug).await, None, "A course that does not exist is None, not an error.");
        }
    }
    assert_eq!(find(storage, "unknown", "there").await, None, "An unknown account has no courses.");
}

/// Slugs that differ in any byte name different courses: case, blanks, normal forms, digits that make one number.
pub async fn slugs_are_compared_by_bytes(storage: &impl Storage) {
    let groups: [&[&str]; 9] = [
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
    for group in groups {
        for slug in group {
            // Alone in its account first, so that none can stand in for another.
            let account = format!("with {slug:?}");
            seed(storage, &[course(&account, slug)]).await;
            for other in group {
                let expected = (other == slug).then(|| detail_of(&course(&account, slug)));
                let found = find(storage, &account, other).await;
                assert_eq!(found, expected, "Slugs are compared byte by byte: {slug:?} and {other:?}.");
            }
        }
        let together: Vec<_> = group.iter().map(|slug| course("together", slug)).collect();
        seed(storage, &together).await;
        for course in together {
            let found = find(storage, "together", &course.slug).await;
            assert_eq!(found, Some(detail_of(&course)), "Slugs that differ in a byte name different courses.");
        }
    }
}

/// A slug is data, whatever it looks like to a database.
pub async fn slugs_that_look_like_sql_are_only_slugs(storage: &impl Storage) {
    let odd = [
        "' OR '1'='1",
        "'; DROP TABLE courses; --",
        "\"; DELETE FROM course",
        "a') UNION SELECT 1 --",
        "$1",
        "?1",
        ":slug",
        "{}",
        "%s",
        "\\'",
        "`x`",
        "$$x$$",
        "E'\\x41'",
        "[0]",
    ];
    let plain = course("a", "plain");
    seed(storage, [&plain]).await;
    for slug in odd {
        assert!(is_slug(slug));
        assert_eq!(find(storage, "a", slug).await, None, "A slug is data: {slug} names no course.");
    }
    let courses: Vec<_> = odd.into_iter().map(|slug| course("a", slug)).collect();
    seed(storage, &courses).await;
    for course in courses.iter().chain([&plain]) {
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(course)), "A slug is data: {} names its course.", course.slug);
    }
    for course in &courses {
        remove(storage, "a", &course.slug).await;
    }
    assert_eq!(slugs(storage, "a").await, ["plain"], "A slug is data: removing odd ones leaves the others.");
}

/// A slug may have as many bytes as the contract allows, and all of them count.
pub async fn the_longest_slugs_are_told_apart(storage: &impl Storage) {
    let stem = "\u{1f917}".repeat(MAX_SLUG_BYTES / 4 - 1);
    let courses: Vec<_> = ["aaaa", "aaab", "\u{1f917}"].map(|end| course("a", &format!("{stem}{end}"))).into();
    seed(storage, &courses).await;
    for course in courses {
        assert_eq!(course.slug.len(), MAX_SLUG_BYTES);
        let found = find(storage, "a", &course.slug).await;
        assert_eq!(found, Some(detail_of(&course)), "All 200 bytes of a slug count.");
    }
    assert_eq!(find(storage, "a", &stem).await, None, "A slug is not found by its beginning.");
}
