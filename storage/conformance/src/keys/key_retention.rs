//! Retention of ended keys and their events.

use catalogue_core::storage::{CredentialAction, MAX_REMOVED, MAX_RENAMES, RETENTION};

use crate::KeyFixture;
use crate::credential_lookup::{as_stored, assert_stored, find};
use crate::key_calls::{assert_all, create, event_actions, events, list, rename, revoke, rotate};
use crate::seed::{create_account, numbered_key as key, second};

/// The retention in seconds.
const RETENTION_SECONDS: i64 = RETENTION.as_secs() as i64;

/// An ended key is retained for 400 days. Then the next creation in its account removes it with its events, and nothing else.
pub async fn ended_keys_are_retained_for_400_days(fixture: &impl KeyFixture) {
    const END: i64 = 10;
    let (a, b) = (create_account(fixture, "a").await, create_account(fixture, "b").await);
    let other_key = create(fixture, &key("b", 0, 0, Some(END))).await;
    let expired = create(fixture, &key("a", 1, 0, Some(END))).await;
    let mut revoked = create(fixture, &key("a", 2, 0, None)).await;
    revoke(fixture, &a, &revoked.record.identity.credential_id, second(END)).await;
    revoked.record.revoked_at = Some(second(END));
    let later = create(fixture, &key("a", 3, 0, Some(END + 1))).await;
    let holding = create(fixture, &key("a", 4, 0, None)).await;
    let early = create(fixture, &key("a", 5, END + RETENTION_SECONDS - 1, None)).await;
    let all = [expired.clone(), revoked.clone(), later.clone(), holding.clone(), early.clone()];
    assert_all(fixture, &a, &all, "Keys that ended within 400 days are retained.").await;

    let on_time = create(fixture, &key("a", 6, END + RETENTION_SECONDS, None)).await;
    for gone in [&expired, &revoked] {
        assert_eq!(find(fixture, &gone.digest).await, None, "The next creation removes a key that ended 400 days ago.");
    }
    let rest = [later.clone(), holding, early, on_time];
    assert_all(fixture, &a, &rest, "Only keys that ended 400 days ago are removed.").await;
    assert_stored(fixture, &other_key, "Ended keys of other accounts are retained.").await;
    let logged: Vec<_> = event_actions(fixture, &a).await.into_iter().rev().collect();
    let expected: Vec<_> = rest
        .iter()
        .map(|key| (CredentialAction::KeyCreated, Some(key.record.identity.credential_id.as_ref().to_owned())))
        .collect();
    assert_eq!(logged, expected, "A key's events are removed with it, and no others are.");
    assert_eq!(events(fixture, &b).await.len(), 1, "Events of other accounts are retained.");

    let old = create(fixture, &key("a", 7, END + RETENTION_SECONDS, None)).await;
    let successor = as_stored(fixture, &key("a", 8, END + 1 + RETENTION_SECONDS, None)).await;
    let rotated =
        rotate(fixture, &old.record.identity.credential_id, second(END + 2 + RETENTION_SECONDS), &successor).await;
    assert!(rotated.is_ok_and(|rotated| rotated.is_some()), "an active key");
    assert_eq!(find(fixture, &later.digest).await, None, "A rotation removes ended keys like a creation.");
}

/// A creation removes at most [`MAX_REMOVED`] ended keys, earliest ends first.
pub async fn creation_removes_at_most_100_ended_keys(fixture: &impl KeyFixture) {
    const SURPLUS: usize = 3;
    let account = create_account(fixture, "a").await;
    let mut last = Vec::new();
    for number in 0..MAX_REMOVED + SURPLUS {
        let stored = create(fixture, &key("a", number, 0, Some(1 + number as i64))).await;
        last.push(stored.record.identity.credential_id.clone());
    }
    for (created, stay) in [(1_000, &last[MAX_REMOVED..]), (1_001, &[])] {
        create(fixture, &key("a", created, created as i64 + RETENTION_SECONDS, None)).await;
        let listed = list(fixture, &account).await.expect("the account is known");
        let ended: Vec<_> =
            listed.iter().filter(|key| key.expires_at.is_some()).map(|key| &key.identity.credential_id).collect();
        assert_eq!(
            ended,
            stay.iter().collect::<Vec<_>>(),
            "A creation removes at most 100 ended keys, earliest end first."
        );
    }
}

/// A key keeps the events of its last twenty renames, and all events of other actions. Other keys' events are unchanged.
pub async fn last_renames_of_key_keep_their_events(fixture: &impl KeyFixture) {
    const SURPLUS: usize = 3;
    let account = create_account(fixture, "a").await;
    let [busy, other] = [1, 2].map(|number| key("a", number, 0, None));
    let busy = create(fixture, &busy).await.record.identity.credential_id;
    let other = create(fixture, &other).await.record.identity.credential_id;
    rename(fixture, &account, &other, "other").await;
    for number in 0..MAX_RENAMES + SURPLUS {
        rename(fixture, &account, &busy, &format!("name {number}")).await;
    }
    let logged = events(fixture, &account).await;
    let of_busy: Vec<_> = logged.iter().filter(|event| event.credential_id.as_ref() == Some(&busy)).collect();
    let (renames, before) = of_busy.split_at(MAX_RENAMES.min(of_busy.len()));
    let expected: Vec<_> = (SURPLUS..MAX_RENAMES + SURPLUS).rev().map(|number| format!("name {number}")).collect();
    let found: Vec<_> = renames.iter().filter_map(|event| event.name.clone()).collect();
    assert_eq!(found, expected, "The last twenty renames of a key keep their events.");
    let actions: Vec<_> = before.iter().map(|event| event.action).collect();
    assert_eq!(
        actions,
        [CredentialAction::KeyCreated],
        "Only the last twenty renames keep their events; all other events are retained."
    );
    let others = logged.iter().filter(|event| event.credential_id.as_ref() == Some(&other)).count();
    assert_eq!(others, 2, "Renames of one key leave events of others unchanged.");
}
