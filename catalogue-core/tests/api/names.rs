//! What no release may change: names in storages, logs and metrics, bytes of revisions, and the end of sessions.

use catalogue_core::admin::NewCredential;
use catalogue_core::auth::Scopes;
use catalogue_core::observe::ExceededLimit::{self, ClientAddress, Credential, InFlight};
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, Revision, Session};
use catalogue_core::{AccountId, Timestamp};
use catalogue_storage_conformance::sample;
use serde_json::json;

#[test]
fn names_of_actions_limits_and_actors_are_stable() {
    let actions = ["key_created", "key_renamed", "key_rotated", "key_revoked", "link_made", "signed_in", "signed_out"];
    assert_eq!(CredentialAction::ALL.iter().map(|action| action.name()).collect::<Vec<_>>(), actions);
    let found = actions.map(|name| CredentialAction::from_name(name).unwrap());
    assert_eq!(found, CredentialAction::ALL);
    assert_eq!(CredentialAction::from_name("key_lost"), None);
    assert_eq!(
        [InFlight, Credential, ClientAddress].map(ExceededLimit::name),
        ["in_flight", "credential", "client_address"]
    );
    for (actor, text) in [
        (Actor::OWNER, "owner"),
        (Actor::OPERATOR, "operator"),
        (Actor::owner_named("ada@example.com"), "owner ada@example.com"),
        (Actor::from_stored("owner"), "owner"),
    ] {
        assert_eq!(actor.as_str(), text);
    }
}

#[test]
fn event_serializes_to_names_and_texts() {
    let (_, key) = NewCredential::api_key(AccountId::new("acc_1"), "partner", Scopes::default());
    let at = Timestamp::parse("2026-01-02T03:04:05Z").unwrap();
    let event = CredentialEvent::for_key(&key.record, CredentialAction::KeyRevoked, at, &Actor::OPERATOR);
    assert_eq!(
        serde_json::to_value(&event).unwrap(),
        json!({
            "action": "key_revoked", "actor": "operator", "at": "2026-01-02T03:04:05.000Z", "id": &*event.id,
            "keyId": &*key.record.identity.credential_id, "keyName": "partner",
        })
    );
    assert!(event.id.starts_with("evt_"));
}

#[test]
fn revision_preserves_its_bytes() {
    let bytes = std::array::from_fn(|at| at as u8);
    assert_eq!(*Revision::from_bytes(bytes).as_bytes(), bytes);
}

#[test]
fn session_is_expired_from_its_expiry() {
    let [before, expires_at, after] = [1, 2, 3].map(|at| Timestamp::from_microseconds(at).unwrap());
    let session = Session { account: sample::account("acc_1"), expires_at };
    assert_eq!([before, expires_at, after].map(|now| session.is_expired(now)), [false, true, true]);
}
