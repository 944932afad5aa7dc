//! Exporting all stored data of accounts and courses, in a fixed order.

use catalogue_core::Course;
use catalogue_core::admin::{Account, Accounts, Change, Record};

use crate::Storage;
use crate::courses::fields::courses_of_all_times;
use crate::reading::{export, visited};
use crate::seed::{account, begin, course, course_at, id, import, modules, prune, seed};
use crate::texts::{unusual_courses, unusual_texts};
use crate::variants::whole_course;

/// Puts accounts and courses whose export has every kind of field, and an order that only a comparison of bytes yields.
async fn seed_all(storage: &impl Storage) -> Vec<Record> {
    let ids = [" ", "A", "B", "a", "a ", "a-", "a0", "ab", "\u{e9}", "\u{ff5e}", "\u{fffd}", "\u{1f917}"];
    assert!(ids.is_sorted(), "this case lists its ids from low to high");
    let accounts = ids.map(|id| Account { name: format!("Name of {id}"), email: format!("{id}@"), ..account(id) });
    let mut courses = Vec::new();
    for (index, id) in ids.into_iter().enumerate().filter(|(index, _)| index % 3 != 2) {
        // The newest courses of the first account are neither its first nor its last by slug.
        let slugs = ids.into_iter().enumerate().filter(|(at, _)| index == 0 || at % 4 == index % 4);
        courses.extend(slugs.map(|(at, slug)| Course {
            title: format!("{slug} of {id}"),
            hidden: at % 2 == 0,
            modules: modules(at % 3),
            ..course_at(id, slug, [3, 9, 1, 7][at % 4])
        }));
    }
    courses.push(whole_course("\u{1f917}", "\u{1f917}!"));
    import(storage, accounts.iter().rev(), courses.iter().rev()).await;
    accounts.map(Record::Account).into_iter().chain(courses.into_iter().map(Record::Course)).collect()
}

/// All accounts come first, by id, then all courses by account and slug, compared byte by byte. The visitor may break.
pub async fn export_orders_accounts_then_courses_by_bytes(storage: &impl Storage) {
    let expected = seed_all(storage).await;
    for length in (1..=expected.len()).chain([usize::MAX]) {
        let records = visited(length, async |visit| storage.export(Accounts::All, visit).await).await;
        let rule = "An export contains all accounts by id, then all courses by account and slug, by bytes";
        assert_eq!(records, expected[..length.min(expected.len())], "{rule}, until the visitor breaks.");
    }
}

/// Every field of accounts and courses is exported: texts byte by byte, times to the microsecond, modules' bodies and order.
pub async fn export_contains_every_field(storage: &impl Storage) {
    assert_eq!(export(storage).await, [], "An empty storage exports nothing.");
    let texts = unusual_texts();
    let accounts = texts.iter().zip(texts.iter().cycle().skip(1)).enumerate().map(|(index, (name, email))| Account {
        name: name.clone(),
        email: email.clone(),
        ..account(&format!("account {index:03}"))
    });
    let accounts: Vec<_> = accounts.collect();
    import(storage, &accounts, []).await;
    let mut courses = unusual_courses();
    courses.extend(courses_of_all_times());
    courses.push(Course { hidden: true, modules: modules(12), ..course("a", "hidden") });
    courses.sort_by(|one, other| one.slug.cmp(&other.slug));
    seed(storage, &courses).await;
    let accounts = [account("a")].into_iter().chain(accounts).map(Record::Account);
    let expected = accounts.chain(courses.into_iter().map(Record::Course));
    let rule = "An export contains every field as it was put, including bodies.";
    assert_eq!(export(storage).await, Vec::from_iter(expected), "{rule}");
}

/// Importing an export again changes nothing.
pub async fn reimported_export_changes_nothing(storage: &impl Storage) {
    seed_all(storage).await;
    let exported = export(storage).await;
    let mut import = begin(storage).await;
    for record in &exported {
        let change = match record {
            Record::Account(account) => import.put_account(account).await,
            Record::Course(course) => import.put_course(course).await,
        };
        assert_eq!(change.ok(), Some(Change::Unchanged), "An exported record is unchanged if it is imported again.");
    }
    assert_eq!(prune(&mut *import).await, [""; 0], "An export contains every course, so nothing is pruned.");
    import.commit().await.expect("an import can be committed");
    assert_eq!(export(storage).await, exported, "Equal content has an equal export.");
}

/// An export of some accounts contains only these and their courses, in the order of a full export.
pub async fn account_filter_exports_only_named_accounts(storage: &impl Storage) {
    let all = seed_all(storage).await;
    for selected in [&["a", "\u{1f917}", "A"][..], &["a-", "unknown", "a-"], &["a "], &["unknown", ""], &[]] {
        let is_selected = |record: &&Record| match record {
            Record::Account(account) => selected.contains(&account.id.as_str()),
            Record::Course(course) => selected.contains(&course.account.as_str()),
        };
        let expected: Vec<_> = all.iter().filter(is_selected).cloned().collect();
        let ids: Vec<_> = selected.iter().copied().map(id).collect();
        let records = visited(usize::MAX, async |visit| storage.export(Accounts::Only(&ids), visit).await).await;
        assert_eq!(records, expected, "An export of some accounts has only these and their courses: {selected:?}.");
    }
}
