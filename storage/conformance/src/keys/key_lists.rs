//! The list of one account's keys, and lookups of its keys by id.

use catalogue_core::Timestamp;

use crate::KeyFixture;
use crate::key_calls::{create, create_some, find_key, list, list_at, revoke, sort};
use crate::seed::{api_key, create_account, instant, numbered_key, oauth_tokens, second, time};

/// Each key is listed as it was stored, for its own account only: by creation time, oldest first, to the microsecond; ties are
/// sorted by id, byte by byte.
pub async fn keys_are_listed_as_stored_oldest_first_with_ties_by_id(fixture: &impl KeyFixture) {
    let of = |account: &str, number: usize| numbered_key(account, number, number as i64, Some(9));
    let mut named = of("a", 2);
    named.record.name = Some("\u{1f917} 'quoted' \"name\" \\ \u{5e9}\n".to_owned());
    named.record.shown_prefix = "ccat_\u{e9}'\"".to_owned();
    let mut empty = of("a", 3);
    empty.record.name = Some(String::new());
    empty.record.shown_prefix = String::new();
    let mut unnamed = of("a", 4);
    unnamed.record.name = None;
    unnamed.record.expires_at = None;
    let mut revoked = of("a", 5);
    revoked.record.revoked_at = Some(time(123_456));
    revoked.record.last_used_at = Some(time(-123_456));
    revoked.record.replaced_by = Some("key_4".into());
    let mut tokens = oauth_tokens(fixture, [("a", "token-1"), ("b", "token-7")]).into_iter();
    let of_a: Vec<_> = tokens.next().into_iter().chain([named, empty, unnamed, revoked]).collect();
    let of_b: Vec<_> = tokens.chain([of("b", 6)]).collect();
    let times = [time(1), Timestamp::MAX, time(-1), Timestamp::MIN, instant(-1)];
    let ids = ["z", "", "1", "A", "20", "10", "B", "a", "c"].into_iter().enumerate();
    let of_times = ids.map(|(index, id)| {
        let mut key = api_key("c", &format!("key_{id}"), &format!("token-of-{id}"));
        key.record.created_at = times.get(index).copied().unwrap_or(time(0));
        // Keys past retention would be removed when one is created at `Timestamp::MAX`.
        key.record.expires_at = None;
        key
    });
    for (name, keys) in [("a", of_a), ("b", of_b), ("c", of_times.collect())] {
        let account = create_account(fixture, name).await;
        let mut expected = Vec::new();
        for key in &keys {
            expected.push(create(fixture, key).await.record);
        }
        sort(&mut expected);
        let rule = "Keys are listed as they were stored, oldest first, ties by id, for their own account only.";
        assert_eq!(list(fixture, &account).await, Some(expected), "{rule}");
    }
}

/// All active keys are listed, and in addition the keys that ended last, up to a limit. The list of an account without keys is
/// empty; that of an unknown account is `None`.
pub async fn ended_keys_are_listed_up_to_limit(fixture: &impl KeyFixture) {
    const RULE: &str = "All active keys are listed, and ended keys up to a limit: those that ended last";
    const NOW: i64 = 50;
    let account = create_account(fixture, "a").await;
    // Created, expires, revoked; ended keys are in the order of their ends, latest first.
    let ended = [
        (30, Some(NOW), None),
        (1, Some(90), Some(49)),
        (2, None, Some(48)),
        (40, Some(47), Some(49)),
        (0, Some(46), None),
    ];
    let active = [(3, None, None), (41, Some(NOW + 1), None), (20, Some(99), None)];
    let mut records = Vec::new();
    for (number, (created, expires, revoked)) in ended.into_iter().chain(active).enumerate() {
        let mut record = create(fixture, &numbered_key("a", number, created, expires)).await.record;
        if let Some(at) = revoked {
            revoke(fixture, &account, &record.identity.credential_id, second(at)).await;
            record.revoked_at = Some(second(at));
        }
        records.push(record);
    }
    for limit in [0, 1, 2, 3, 4, 5, 6, usize::MAX] {
        let selected = records[..limit.min(ended.len())].iter().chain(&records[ended.len()..]);
        let mut expected: Vec<_> = selected.cloned().collect();
        sort(&mut expected);
        assert_eq!(list_at(fixture, &account, second(NOW), limit).await, Some(expected), "{RULE}: {limit}.");
    }
    let empty = create_account(fixture, "empty").await;
    assert_eq!(list(fixture, &empty).await, Some(vec![]), "An account without keys has an empty list.");
    for unknown in ["unknown", "", "A", "a ", "emp"] {
        let account = fixture.account(unknown).await;
        let listed = list_at(fixture, &account, second(NOW), 0).await;
        assert_eq!(listed, None, "An unknown account has no list of keys: {unknown:?}.");
    }
}

/// A key is found by its id, whether it has ended or not, in its own account.
pub async fn key_is_found_by_id_in_its_account(fixture: &impl KeyFixture) {
    const RULE: &str = "A key is found by its id in its own account";
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let mut keys = create_some(fixture).await;
    let ended = &mut keys[0].record;
    revoke(fixture, &a, &ended.identity.credential_id, second(9)).await;
    ended.revoked_at = Some(second(9));
    for key in &keys {
        let id = &key.record.identity.credential_id;
        assert_eq!(find_key(fixture, &a, id).await.as_ref(), Some(&key.record), "{RULE}, ended or not.");
        assert_eq!(find_key(fixture, &b, id).await, None, "{RULE}, and in no other.");
    }
    for unknown in ["unknown", "", "KEY_1", "key_"] {
        assert_eq!(find_key(fixture, &a, unknown).await, None, "{RULE}: {unknown:?} is unknown.");
    }
}
