//! Reads and writes of one account do not involve data of others.

use catalogue_core::Course;

use crate::CourseFixture;
use crate::reading::{all_items, assert_last_page, assert_listed_and_found, find, listed, position, slugs};
use crate::seed::{course_at, course_of, modules, remove, seed};

/// Returns the courses of two accounts, with the same slugs and times but different content.
fn two_accounts_with_same_slugs() -> (Vec<Course>, Vec<Course>) {
    let of = |account: &str, count: usize| {
        let courses = (0..10).map(|index| Course {
            title: format!("{account}'s own {index}"),
            modules: modules(count),
            ..course_at(account, &format!("shared-{index}"), i64::from(index / 3))
        });
        courses.collect()
    };
    (of("one", 1), of("two", 2))
}

/// A list never mixes accounts, on any page.
pub async fn list_returns_courses_of_one_account(fixture: &impl CourseFixture) {
    let (one, mut two) = two_accounts_with_same_slugs();
    two.extend((0..5).map(|index| course_at("two", &format!("own-{index}"), index)));
    seed(fixture, one.iter().chain(&two)).await;
    for limit in [1, 3, 10, 100] {
        for (account, courses) in [("one", &one), ("two", &two)] {
            let rule = "A list contains the courses of its account and no others.";
            assert_eq!(all_items(fixture, account, limit).await, listed(fixture, courses), "{rule}");
        }
    }
}

/// A position from another account's list is only a position: it does not grant access to the other account's courses.
pub async fn position_of_other_account_returns_only_own_courses(fixture: &impl CourseFixture) {
    let (one, mut two) = two_accounts_with_same_slugs();
    two.push(course_at("two", "between", 1));
    seed(fixture, one.iter().chain(&two)).await;
    for other_course in &two {
        let after = position(fixture, other_course);
        let expected = listed(fixture, one.iter().filter(|course| position(fixture, course) < after));
        let rule = "A page after the position of another account's course contains only own courses.";
        assert_last_page(fixture, "one", 100, Some(after), &expected, rule).await;
    }
}

/// Another account's course is `None`, like one that does not exist. Account ids that differ in any byte are different
/// accounts: prefixes, case, spaces, normal forms, wildcards.
pub async fn account_ids_are_compared_by_bytes(fixture: &impl CourseFixture) {
    let ids = "acc|acc_|acc_1|acc_10|acc_1 | acc_1|ACC_1|Acc_1|acc-1|acc%|%|_|*|1|01|1.0|caf\u{e9}|cafe\u{301}|CAF\u{c9}|\
        \u{ff41}cc|' OR ''='|acc\u{0301}|\u{1f917}";
    let ids: Vec<_> = ids.split('|').collect();
    let own = |(index, account): (usize, &&str)| Course {
        title: format!("Of account {index}"),
        ..course_of(account, "shared", index)
    };
    for (index, account) in ids.iter().enumerate() {
        for other in &ids[index..] {
            assert_eq!(slugs(fixture, other).await, [""; 0], "Account ids are compared byte by byte: {other:?}.");
            let found = find(fixture, other, "shared").await;
            assert_eq!(found, None, "Another account's course is not found, like one that does not exist: {other:?}.");
        }
        seed(fixture, &[own((index, account))]).await;
    }
    for own in ids.iter().enumerate().map(own) {
        assert_listed_and_found(fixture, own.account.as_str(), [&own], "Account ids are compared byte by byte.").await;
    }
}

/// Changing and removing a course does not affect another account's course with the same slug.
pub async fn writes_do_not_affect_other_accounts(fixture: &impl CourseFixture) {
    let (one, two) = two_accounts_with_same_slugs();
    seed(fixture, one.iter().chain(&two)).await;
    let changed = |course: &Course| Course { title: "Changed".to_owned(), modules: modules(4), ..course.clone() };
    let changed: Vec<_> = one.iter().map(changed).collect();
    seed(fixture, &changed).await;
    assert_listed_and_found(fixture, "two", &two, "Changing a course leaves other accounts unchanged.").await;
    for course in &one {
        remove(fixture, "one", &course.slug).await;
    }
    assert_listed_and_found(fixture, "two", &two, "Removing a course leaves other accounts unchanged.").await;
}
