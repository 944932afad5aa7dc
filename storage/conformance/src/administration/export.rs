//! Exporting all stored data of accounts and courses, in a fixed order.

use std::ops::ControlFlow;

use catalogue_core::admin::{Account, Accounts, Change, Record};
use catalogue_core::{Course, CourseModule, Timestamp};

use crate::Storage;
use crate::reading::export;
use crate::seed::{account, course, course_at, id, instant, modules, prune, seed, time};
use crate::texts::{unusual_modules, unusual_texts};
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
    let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
    for account in accounts.iter().rev() {
        import.put_account(account).await.expect("an account can be put");
    }
    for course in courses.iter().rev() {
        import.put_course(course).await.expect("a course of a known account can be put");
    }
    import.commit().await.expect("an import can be committed");
    accounts.map(Record::Account).into_iter().chain(courses.into_iter().map(Record::Course)).collect()
}

/// An export of an empty storage is empty.
pub async fn empty_storage_exports_nothing(storage: &impl Storage) {
    assert_eq!(export(storage).await, [], "An empty storage exports nothing.");
}

/// All accounts come first, by id, then all courses by account and slug, compared byte by byte.
pub async fn export_orders_accounts_then_courses_by_bytes(storage: &impl Storage) {
    let expected = seed_all(storage).await;
    let name = |record: &Record| match record {
        Record::Account(account) => format!("account {}", account.id),
        Record::Course(course) => format!("course {} {}", course.account, course.slug),
    };
    let exported: Vec<_> = export(storage).await.iter().map(name).collect();
    let expected: Vec<_> = expected.iter().map(name).collect();
    assert_eq!(
        exported, expected,
        "An export contains all accounts by id, then all courses by account and slug, by bytes."
    );
}

/// Every field is exported, including modules' bodies and order.
pub async fn export_contains_every_field(storage: &impl Storage) {
    let text = |field: &str| format!("{field} \u{1f917} 'quoted' \n {}", "x".repeat(2_000));
    let module = |number: usize| CourseModule {
        title: text(&format!("title {}", (number * 7) % 12)),
        summary: text(&format!("summary {number}")),
        content: text(&format!("content {number}")),
    };
    let full = Course {
        title: text("title"),
        tagline: text("tagline"),
        language: text("language"),
        created_at: time(123_456),
        published_at: Some(Timestamp::MIN),
        hidden: true,
        access_mode: Some(text("access mode")),
        modules: (0..12).map(module).collect(),
        ..course("a", "full")
    };
    let bare = Course { title: String::new(), language: String::new(), ..course("a", "bare") };
    seed(storage, [&full, &bare]).await;
    let expected = [Record::Account(account("a")), Record::Course(bare), Record::Course(full)];
    assert_eq!(export(storage).await, expected, "An export contains every field as it was put, including bodies.");
}

/// Every text of an account is exported byte by byte.
pub async fn export_contains_every_account_text(storage: &impl Storage) {
    let texts = unusual_texts();
    let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
    let mut expected = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let email = texts[(index + 1) % texts.len()].clone();
        let account = Account { name: text.clone(), email, ..account(&format!("account {index:03}")) };
        import.put_account(&account).await.expect("an account can be put");
        expected.push(Record::Account(account));
    }
    import.commit().await.expect("an import can be committed");
    assert_eq!(export(storage).await, expected, "An export contains an account's name and email as they were put.");
}

/// Every text of a module is exported byte by byte, including its body.
pub async fn export_contains_every_module_text(storage: &impl Storage) {
    let course = Course { modules: unusual_modules(), ..course("a", "modules") };
    seed(storage, [&course]).await;
    let expected = [Record::Account(account("a")), Record::Course(course)];
    assert_eq!(export(storage).await, expected, "An export contains every text of a module, including bodies.");
}

/// Creation times are exported to the microsecond.
pub async fn export_contains_creation_times_to_the_microsecond(storage: &impl Storage) {
    let times = [Timestamp::MIN, instant(-1), time(123_456), instant((1 << 53) + 1), Timestamp::MAX];
    let courses: Vec<_> = (0..)
        .zip(times)
        .map(|(index, created_at)| Course { created_at, ..course("a", &format!("time-{index}")) })
        .collect();
    seed(storage, &courses).await;
    let exported: Vec<_> = export(storage).await.into_iter().skip(1).collect();
    let courses: Vec<_> = courses.into_iter().map(Record::Course).collect();
    assert_eq!(exported, courses, "An export contains creation times to the microsecond.");
}

/// Importing an export again changes nothing.
pub async fn reimported_export_changes_nothing(storage: &impl Storage) {
    seed_all(storage).await;
    let exported = export(storage).await;
    let mut import = storage.begin_import().await.expect("an import can begin if no other is open");
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

/// An export ends when its visitor breaks.
pub async fn export_stops_when_visitor_breaks(storage: &impl Storage) {
    let expected = seed_all(storage).await;
    for length in 1..=expected.len() {
        let mut records = Vec::new();
        let mut visit = |record| {
            records.push(record);
            if records.len() == length { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let ended = storage.export(Accounts::All, &mut visit).await;
        assert!(ended.is_ok(), "An export succeeds even if its visitor breaks.");
        assert_eq!(records, expected[..length], "An export ends when its visitor breaks.");
    }
    assert_eq!(export(storage).await, expected, "An export that ended early does not affect the next one.");
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
        let mut records = Vec::new();
        let mut visit = |record| {
            records.push(record);
            ControlFlow::Continue(())
        };
        let exported = storage.export(Accounts::Only(&ids), &mut visit).await;
        assert!(exported.is_ok(), "An export ignores unknown account ids.");
        assert_eq!(records, expected, "An export of some accounts has only these and their courses: {selected:?}.");
    }
}
