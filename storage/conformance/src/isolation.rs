//! Every read names its account, and sees nothing of another.

use catalogue_core::Course;

use crate::Storage;
use crate::reading::{detail_of, find, list, listed, page, pages, place, slugs};
use crate::seed::{course, course_at, id, modules, remove, seed};

/// Two accounts that share slugs and times, with different courses behind them.
fn neighbours() -> (Vec<Course>, Vec<Course>) {
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

/// Accounts that share slugs each find their own course.
pub async fn accounts_that_share_slugs_find_their_own(storage: &impl Storage) {
    let (one, two) = neighbours();
    seed(storage, one.iter().chain(&two)).await;
    for course in one.iter().chain(&two) {
        let found = find(storage, course.account.as_str(), &course.slug).await;
        assert_eq!(
            found,
            Some(detail_of(course)),
            "Every read names its account and sees that account's courses only."
        );
    }
}

/// A list never mixes accounts, on no page of it.
pub async fn a_list_never_mixes_accounts(storage: &impl Storage) {
    let (one, mut two) = neighbours();
    two.extend((0..5).map(|index| course_at("two", &format!("own-{index}"), index)));
    seed(storage, one.iter().chain(&two)).await;
    for limit in [1, 3, 10, 100] {
        for (account, courses) in [("one", &one), ("two", &two)] {
            let joined: Vec<_> = pages(storage, account, limit).await.into_iter().flat_map(|page| page.items).collect();
            assert_eq!(joined, listed(courses), "A list holds the courses of the account that it names and no others.");
        }
    }
}

/// A course of somebody else is answered like one that does not exist.
pub async fn a_foreign_course_is_like_an_absent_one(storage: &impl Storage) {
    seed(storage, &[course("one", "hers"), course("two", "his")]).await;
    for (account, slug) in [("one", "his"), ("two", "hers"), ("three", "his"), ("one", "nobody's")] {
        let found = storage.find_course(&id(account), slug).await;
        assert!(
            matches!(found, Ok(None)),
            "A course of somebody else is answered like one that does not exist: {account} asked for {slug}."
        );
    }
}

/// A place taken from another account's list is only a place: nothing of that account can be reached by it.
pub async fn a_foreign_place_is_only_a_place(storage: &impl Storage) {
    let (one, mut two) = neighbours();
    two.push(course_at("two", "between", 1));
    seed(storage, one.iter().chain(&two)).await;
    for foreign in &two {
        let after = place(foreign);
        let expected: Vec<_> = one.iter().filter(|course| place(course) < after).cloned().collect();
        let page = page(storage, "one", 100, Some(after)).await;
        assert_eq!(
            page.items,
            listed(&expected),
            "A page that starts at a foreign place holds the account's own courses."
        );
    }
}

/// Account ids that differ in any byte are different accounts: prefixes, case, blanks, normal forms, wildcards.
pub async fn account_ids_are_compared_by_bytes(storage: &impl Storage) {
    let ids = [
        "acc",
        "acc_",
        "acc_1",
        "acc_10",
        "acc_1 ",
        " acc_1",
        "ACC_1",
        "Acc_1",
        "acc-1",
        "acc%",
        "%",
        "_",
        "*",
        "1",
        "01",
        "1.0",
        "caf\u{e9}",
        "cafe\u{301}",
        "CAF\u{c9}",
        "\u{ff41}cc",
        "' OR ''='",
        "acc\u{0301}",
        "\u{1f917}",
    ];
    for (index, account) in ids.iter().enumerate() {
        for other in &ids[index..] {
            assert_eq!(slugs(storage, other).await, [""; 0], "Account ids are compared byte by byte: {other:?}.");
            assert_eq!(find(storage, other, "shared").await, None, "Account ids are compared byte by byte: {other:?}.");
        }
        let own = Course { title: format!("Of {account}"), modules: modules(index), ..course(account, "shared") };
        seed(storage, &[own]).await;
    }
    for (index, account) in ids.iter().enumerate() {
        let own = Course { title: format!("Of {account}"), modules: modules(index), ..course(account, "shared") };
        let found = find(storage, account, "shared").await;
        assert_eq!(found, Some(detail_of(&own)), "Account ids are compared byte by byte: {account:?}.");
        assert_eq!(list(storage, account).await, listed(&[own]), "Account ids are compared byte by byte: {account:?}.");
    }
}

/// Changing and removing a course leaves another account's course of the same slug as it was.
pub async fn writes_for_one_account_leave_the_others(storage: &impl Storage) {
    let (one, two) = neighbours();
    seed(storage, one.iter().chain(&two)).await;
    let changed: Vec<_> = one
        .iter()
        .map(|course| Course { title: "Changed".to_owned(), modules: modules(4), ..course.clone() })
        .collect();
    seed(storage, &changed).await;
    assert_eq!(
        list(storage, "two").await,
        listed(&two),
        "Changing a course leaves another account's of the same slug."
    );
    for course in &one {
        remove(storage, "one", &course.slug).await;
    }
    assert_eq!(
        list(storage, "two").await,
        listed(&two),
        "Removing a course leaves another account's of the same slug."
    );
    for course in &two {
        let found = find(storage, "two", &course.slug).await;
        assert_eq!(found, Some(detail_of(course)), "Removing a course leaves another account's modules.");
    }
}
