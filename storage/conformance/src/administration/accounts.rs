//! Listing accounts with the numbers of their courses and keys.

use catalogue_core::Timestamp;
use catalogue_core::admin::{Account, AccountSummary, Accounts};

use crate::Storage;
use crate::key_calls::create;
use crate::reading::visited;
use crate::seed::{account, api_key, course, course_of, id, import, oauth_token, seed, seed_accounts, time};

/// Time that is passed to the calls, in microseconds after the default time.
const NOW: i64 = 7;

async fn listed(storage: &impl Storage, accounts: Accounts<'_>) -> Vec<AccountSummary> {
    visited(usize::MAX, async |visit| storage.list_accounts(accounts, time(NOW), visit).await).await
}

/// Returns id, courses and keys of each account.
fn counts(summaries: &[AccountSummary]) -> Vec<(&str, u64, u64)> {
    summaries.iter().map(|summary| (summary.account.id.as_str(), summary.courses, summary.keys)).collect()
}

/// Every account is listed by id, compared byte by byte, with name, email and the number of its courses. The visitor
/// may break.
pub async fn accounts_are_listed_by_id_with_course_counts(storage: &impl Storage) {
    assert_eq!(listed(storage, Accounts::All).await, [], "An empty storage lists no accounts.");
    let ids = [" ", "A", "B", "a", "a ", "a-", "\u{e9}", "\u{ff5e}", "\u{1f917}"];
    let accounts = ids.map(|id| Account { name: format!("\u{1f917} {id}"), email: format!("{id}@"), ..account(id) });
    let courses_of = |(index, id)| (0..index % 4).map(move |number| course_of(id, &format!("c{number}"), 3));
    let courses: Vec<_> = ids.into_iter().enumerate().flat_map(courses_of).collect();
    import(storage, accounts.iter().rev(), &courses).await;
    let expected = accounts.into_iter().zip((0..).map(|index| index % 4));
    let expected: Vec<_> = expected.map(|(account, courses)| AccountSummary { account, courses, keys: 0 }).collect();
    for length in [1, 4, 9, usize::MAX] {
        let listed = visited(length, async |visit| storage.list_accounts(Accounts::All, time(NOW), visit).await).await;
        let rule =
            "Accounts are listed by id, by bytes, each with the number of its courses, until the visitor breaks.";
        assert_eq!(listed, expected[..length.min(expected.len())], "{rule}");
    }
}

/// Active keys are counted: neither revoked nor expired at the given time, to the microsecond. OAuth tokens are not keys.
pub async fn only_active_keys_are_counted(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b", "none"]).await;
    let keys = [
        ("for good", None, None),
        ("for a while", Some(time(NOW + 1)), None),
        ("ends now", Some(time(NOW)), None),
        ("has ended", Some(Timestamp::MIN), None),
        ("revoked", None, Some(time(1))),
        ("revoked later", Some(Timestamp::MAX), Some(time(NOW + 9))),
    ];
    for (name, expires_at, revoked_at) in keys {
        let mut key = api_key("a", name, &name.replace(' ', "-"));
        key.record.expires_at = expires_at;
        key.record.revoked_at = revoked_at;
        key.record.replaced_by = Some("another".into());
        create(storage, &key).await;
    }
    create(storage, &oauth_token("a", "token")).await;
    let mut of_b = api_key("b", "of b", "of-b");
    of_b.record.expires_at = None;
    create(storage, &of_b).await;
    let all = listed(storage, Accounts::All).await;
    assert_eq!(
        counts(&all),
        [("a", 0, 2), ("b", 0, 1), ("none", 0, 0)],
        "API keys are counted if they are neither revoked nor expired at the given time."
    );
}

/// A list of some accounts contains only these, by id; unknown ids are ignored, and duplicates appear once.
pub async fn account_filter_lists_only_named_accounts(storage: &impl Storage) {
    seed(storage, &[course("a", "1"), course("a", "2"), course("b", "1"), course("c", "1")]).await;
    for (selected, expected) in [
        (&["c", "a"][..], &[("a", 2, 0), ("c", 1, 0)][..]),
        (&["b", "unknown", "b", "\0", ""], &[("b", 1, 0)]),
        (&["A", "a ", "%"], &[]),
        (&[], &[]),
    ] {
        let ids: Vec<_> = selected.iter().copied().map(id).collect();
        let some = listed(storage, Accounts::Only(&ids)).await;
        assert_eq!(counts(&some), expected, "A list of some accounts contains only these: {selected:?}.");
    }
}
