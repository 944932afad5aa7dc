//! The credentials of one account, as its owner may see them, and those of all.

use std::ops::ControlFlow;

use catalogue_core::Timestamp;
use catalogue_core::admin::{AdminStorage, CredentialRecord, NewCredential};

use crate::Storage;
use crate::seed::{api_key, create, id, instant, oauth_token, seed_accounts, time};

async fn list(storage: &impl AdminStorage, account: &str) -> Option<Vec<CredentialRecord>> {
    storage.list_credentials(&id(account)).await.expect("credentials can be listed")
}

/// An account without credentials has an empty list, an unknown account has none.
pub async fn an_empty_list_and_an_unknown_account_differ(storage: &impl Storage) {
    seed_accounts(storage, &["empty"]).await;
    assert_eq!(list(storage, "empty").await, Some(vec![]), "An account without credentials has an empty list.");
    for unknown in ["unknown", "", "Empty", "empty ", "emp"] {
        assert_eq!(list(storage, unknown).await, None, "An unknown account has no list of credentials.");
    }
}

/// The oldest comes first, to the microsecond; of the same instant, the lower id, compared byte by byte.
pub async fn the_oldest_comes_first_and_ties_go_by_id(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let expected = [
        ("key_z", Timestamp::MIN),
        ("key_y", instant(-1)),
        ("key_x", time(-1)),
        ("key_", time(0)),
        ("key_1", time(0)),
        ("key_10", time(0)),
        ("key_2", time(0)),
        ("key_B", time(0)),
        ("key_a", time(0)),
        ("key_c", time(0)),
        ("key_0", time(1)),
        ("key_A", Timestamp::MAX),
    ];
    for index in 0..expected.len() {
        let (id, created_at) = expected[index * 5 % expected.len()];
        let mut credential = api_key("a", id, &format!("token-{index}"));
        credential.record.created_at = created_at;
        create(storage, &credential).await;
    }
    let listed = list(storage, "a").await.expect("the account is known");
    let listed: Vec<_> = listed.iter().map(|record| (&*record.identity.credential_id, record.created_at)).collect();
    assert_eq!(listed, expected, "Credentials are listed oldest first, ties by id.");
}

/// Each record is listed as it was stored, for its own account only.
pub async fn records_are_listed_as_they_were_stored(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let bare = |mut credential: NewCredential, second: i64| {
        credential.record.created_at = time(second);
        credential
    };
    let mut named = bare(api_key("a", "key_2", "token-2"), 2);
    named.record.name = Some("\u{1f917} 'quoted' \"name\" \\ \u{5e9}\n".to_owned());
    named.record.shown_prefix = "ccat_\u{e9}'\"".to_owned();
    let mut empty = bare(api_key("a", "key_3", "token-3"), 3);
    empty.record.name = Some(String::new());
    empty.record.shown_prefix = String::new();
    let mut unnamed = bare(api_key("a", "key_4", "token-4"), 4);
    unnamed.record.name = None;
    unnamed.record.expires_at = None;
    let mut revoked = bare(api_key("a", "key_5", "token-5"), 5);
    revoked.record.revoked_at = Some(time(123_456));
    revoked.record.last_used_at = Some(time(-123_456));
    revoked.record.replaced_by = Some("key_4".into());
    let of_a = [bare(oauth_token("a", "token-1"), 1), named, empty, unnamed, revoked];
    let of_b = [bare(api_key("b", "key_6", "token-6"), 0), bare(oauth_token("b", "token-7"), 1)];
    for credential in of_a.iter().chain(&of_b) {
        create(storage, credential).await;
    }
    for (account, credentials) in [("a", &of_a[..]), ("b", &of_b[..])] {
        let expected: Vec<_> = credentials.iter().map(|credential| credential.record.clone()).collect();
        assert_eq!(
            list(storage, account).await,
            Some(expected),
            "Credentials are listed as they were stored, for their own account only."
        );
    }
}

/// A revoked credential stays in the list, and says when it was revoked.
pub async fn revoked_credentials_stay_in_the_list(storage: &impl Storage) {
    seed_accounts(storage, &["a"]).await;
    let mut credentials = [api_key("a", "key_1", "token-1"), api_key("a", "key_2", "token-2")];
    for credential in &credentials {
        create(storage, credential).await;
    }
    credentials[0].record.revoked_at = Some(time(9));
    AdminStorage::revoke_credential(storage, "key_1", time(9)).await.expect("a credential can be revoked");
    let expected: Vec<_> = credentials.into_iter().map(|credential| credential.record).collect();
    assert_eq!(list(storage, "a").await, Some(expected), "A revoked credential is listed as revoked, and no other is.");
}

/// The record of a credential of either kind is found by its whole id, as it was stored; an unknown id is none.
pub async fn a_record_is_found_by_its_id(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let mut used = api_key("a", "key_1", "token-1");
    used.record.last_used_at = Some(time(5));
    for credential in [used, api_key("b", "key_2", "token-2"), oauth_token("a", "token-3")] {
        create(storage, &credential).await;
        let found = storage.find_credential_record(&credential.record.identity.credential_id).await;
        let found = found.expect("A record can be found.");
        assert_eq!(found, Some(credential.record), "A record is found by its id as it was stored.");
    }
    for unknown in ["", "key_", "KEY_1", "key_1 ", "key_11", "%", "a", "token-1", "oauth:", "\0"] {
        let found = storage.find_credential_record(unknown).await.expect("An unknown id is None, not an error.");
        assert_eq!(found, None, "No record is found by an id that no credential has: {unknown:?}.");
    }
}

/// The credentials of all accounts come by account, byte by byte, and within one as its own list has them; a visitor may
/// break off.
pub async fn those_of_all_accounts_come_by_account(storage: &impl Storage) {
    let accounts = ["B", "a", "a ", "a-", "b", "\u{e9}"];
    seed_accounts(storage, &accounts).await;
    for index in 0..24 {
        let account = accounts[index * 5 % accounts.len()];
        // Where there are none in between, the next account has to be found all the same.
        if account == "a-" {
            continue;
        }
        let mut credential = api_key(account, &format!("key_{:02}", index * 7 % 24), &format!("token-{index}"));
        credential.record.created_at = time(index as i64 % 3);
        create(storage, &credential).await;
    }
    create(storage, &oauth_token("b", "token-o")).await;
    let mut expected = Vec::new();
    for account in accounts {
        expected.extend(list(storage, account).await.expect("the account is known"));
    }
    assert_eq!(expected.len(), 21, "this case has so many credentials");
    for length in [1, 5, expected.len()] {
        let mut records = Vec::new();
        let mut visit = |record| {
            records.push(record);
            if records.len() == length { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        storage.visit_credentials(&mut visit).await.expect("all credentials can be read");
        assert_eq!(
            records,
            expected[..length],
            "The credentials of all accounts come by account, as each is listed, until the visitor breaks off."
        );
    }
}
