//! Credentials of all accounts, for an operator.

use catalogue_core::admin::Accounts;

use crate::Storage;
use crate::key_calls::{create, list};
use crate::reading::visited;
use crate::seed::{api_key, id, oauth_token, seed_accounts, time};

/// The record of an API key or OAuth token is found by its whole id, as it was stored; an unknown id is `None`.
pub async fn record_is_found_by_id(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b"]).await;
    let mut used = api_key("a", "key_1", "token-1");
    used.record.last_used_at = Some(time(5));
    for credential in [used, api_key("b", "key_2", "token-2"), oauth_token("a", "token-3")] {
        create(storage, &credential).await;
        let found = storage.find_credential_record(&credential.record.identity.credential_id).await;
        let found = found.expect("a record can be looked up");
        assert_eq!(found, Some(credential.record), "A record is found by its id as it was stored.");
    }
    for unknown in ["", "key_", "KEY_1", "key_1 ", "key_11", "%", "a", "token-1", "oauth:", "\0"] {
        let found = storage.find_credential_record(unknown).await.expect("An unknown id returns None, not an error.");
        assert_eq!(found, None, "An unknown id finds no record: {unknown:?}.");
    }
}

/// Credentials of all accounts are ordered by account, byte by byte, and within an account as in its list; a visitor may
/// break.
pub async fn records_of_all_accounts_are_ordered_by_account(storage: &impl Storage) {
    let accounts = ["B", "a", "a ", "a-", "b", "\u{e9}"];
    seed_accounts(storage, &accounts).await;
    for index in 0..24 {
        let account = accounts[index * 5 % accounts.len()];
        // An account without credentials must not end the visit of the later ones.
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
        expected.extend(list(storage, &id(account)).await.expect("the account is known"));
    }
    assert_eq!(expected.len(), 21, "this case has 21 credentials");
    for length in [1, 5, expected.len()] {
        let records = visited(length, async |visit| storage.visit_credentials(Accounts::All, visit).await).await;
        let rule = "Credentials are ordered by account, then as in its list, until the visitor breaks.";
        assert_eq!(records, expected[..length], "{rule}");
    }
}

/// Credentials of some accounts are ordered like those of all accounts, and no others are returned.
pub async fn account_filter_returns_only_records_of_named_accounts(storage: &impl Storage) {
    seed_accounts(storage, &["a", "b", "c", "empty"]).await;
    for (account, key) in [("c", "key_1"), ("a", "key_2"), ("b", "key_3"), ("c", "key_0")] {
        create(storage, &api_key(account, key, key)).await;
    }
    for (ids, expected) in [
        (&["c", "empty", "a", "c", "unknown"][..], &["key_2", "key_0", "key_1"][..]),
        (&["b"], &["key_3"]),
        (&["empty", "unknown", "B"], &[]),
        (&[], &[]),
    ] {
        let accounts: Vec<_> = ids.iter().map(|account| id(account)).collect();
        let only = Accounts::Only(&accounts);
        let found = visited(usize::MAX, async |visit| storage.visit_credentials(only, visit).await).await;
        let found: Vec<_> = found.iter().map(|record| &*record.identity.credential_id).collect();
        assert_eq!(found, expected, "Credentials of some accounts are in order, and none of another account.");
    }
}
