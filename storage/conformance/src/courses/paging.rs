//! Start and end of a page.

use catalogue_core::storage::Position;
use catalogue_core::{Course, Timestamp};

use crate::CourseFixture;
use crate::reading::{all_items, assert_last_page, item_of, listed, pages};
use crate::seed::{course, course_at, seed, time};

/// Returns courses in groups, each given by its creation time and its size.
fn tie_groups(account: &str, groups: &[(i64, usize)]) -> Vec<Course> {
    let mut courses = Vec::new();
    for &(microsecond, size) in groups {
        courses.extend((0..size).map(|index| course_at(account, &format!("s{microsecond}-{index}"), microsecond)));
    }
    courses
}

/// The concatenated pages are the whole list, at every limit.
pub async fn pages_concatenate_to_full_list_for_every_limit(fixture: &impl CourseFixture) {
    let courses = tie_groups("a", &[(0, 105), (1, 1), (2, 60), (3, 2), (1_000, 40), (1_000_000, 22)]);
    assert_eq!(courses.len(), 230);
    seed(fixture, &courses).await;
    let whole = listed(fixture, &courses);
    for limit in 1..=100 {
        let items = all_items(fixture, "a", limit).await;
        assert_eq!(items, whole, "The concatenated pages are the whole list, here with limit {limit}.");
    }
}

/// `next` is `None` if and only if no further course exists, so even a full last page is not followed by an empty one.
pub async fn next_is_none_only_on_last_page(fixture: &impl CourseFixture) {
    for count in [1_usize, 2, 6, 7, 12] {
        let account = format!("with {count}");
        seed(fixture, &tie_groups(&account, &[(0, count / 2), (1, count - count / 2)])).await;
        for limit in 1..=13_u8 {
            let sizes: Vec<_> = pages(fixture, &account, limit).await.iter().map(|page| page.items.len()).collect();
            let mut expected = vec![usize::from(limit); count / usize::from(limit)];
            expected.extend(Some(count % usize::from(limit)).filter(|&rest| rest > 0));
            assert_eq!(
                sizes, expected,
                "Every page but the last is full, none is empty, and next is None exactly on the last: \
                 {count} courses by {limit}."
            );
        }
    }
}

/// A page starts right after a position, whether or not a course ever had it.
pub async fn page_starts_right_after_position(fixture: &impl CourseFixture) {
    // Whole seconds, which every table can store.
    let at = |seconds: i64| time(seconds * 1_000_000);
    let courses = [("m", 10), ("k", 10), ("z", 5), ("b", 5), ("a", 0)];
    let courses = courses.map(|(slug, seconds)| Course { created_at: at(seconds), ..course("a", slug) });
    seed(fixture, &courses).await;
    let (last, long) = ("\u{10ffff}".repeat(50), "z".repeat(200));
    for (created_at, slug, rest) in [
        (Timestamp::MAX, "a", 0),
        (at(11), "a", 0),
        (at(10), last.as_str(), 0),
        (at(10), "l", 1),
        (at(10), "k-", 1),
        (at(10), "k", 2),
        (at(10), "a", 2),
        (at(7), "m", 2),
        (at(5), long.as_str(), 2),
        (at(5), "y", 3),
        (at(5), "a", 4),
        (at(1), "k", 4),
        (at(0), "b", 4),
        (at(0), "a", 5),
        (at(0), "A", 5),
        (at(-1), "z", 5),
        (Timestamp::MIN, "a", 5),
    ] {
        let after = Some(Position { created_at, slug: slug.to_owned() });
        let expected: Vec<_> = courses[rest..].iter().map(|course| item_of(fixture, course)).collect();
        let rule = "A page starts right after its position, even if no course ever had it.";
        assert_last_page(fixture, "a", 100, after, &expected, rule).await;
    }
}
