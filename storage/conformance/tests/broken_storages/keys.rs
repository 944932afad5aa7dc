//! Flaws of credentials, of their lookups, keys and events, and of revocations of signed tokens.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue_core::admin::{AdminStorage, CredentialRecord, NewCredential};
use catalogue_core::auth::{CredentialKind, Scope, TokenDigest};
use catalogue_core::storage::{Actor, CredentialEvent, CredentialStorage, KeyStorage, MemoryStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{Broken, Cache, account, accounts, put, record, run};
use crate::flaws;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Finds credentials and revocations by a part of their digest.
fn comparing_part_of_digest(part: fn(&TokenDigest) -> &[u8]) -> Broken {
    let stored: Arc<Mutex<Vec<TokenDigest>>> = Arc::default();
    let (keys, revoked, all) = (stored.clone(), stored.clone(), stored);
    Broken::new()
        .create_key(move |memory, key, by| {
            keys.lock().unwrap().push(key.digest);
            run(memory.create_key(key, by))
        })
        .find_credential(move |memory, digest| {
            let found = all.lock().unwrap().iter().find(|stored| part(stored) == part(digest)).copied();
            run(memory.find_credential(&found.unwrap_or(*digest)))
        })
        .revoke_tokens({
            let revoked = revoked.clone();
            move |_, digests, _, _| {
                revoked.lock().unwrap().extend(digests);
                Ok(())
            }
        })
        .is_revoked(move |_, digest| {
            Ok(Some(revoked.lock().unwrap().iter().any(|stored| part(stored) == part(digest))))
        })
}

/// Alters lists of keys.
fn altering_keys(alter: impl Fn(&mut Vec<CredentialRecord>) + Send + Sync + 'static) -> Broken {
    Broken::new().keys(move |keys| keys.iter_mut().for_each(&alter))
}

/// Rotates a key if `rotates` returns `true` for the stored credential and the successor.
fn rotating_if(rotates: impl Fn(&CredentialRecord, &NewCredential) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().rotate_key(move |memory, account, id, ends_at, successor, by| match record(memory, id) {
        // Skips the checks of the memory storage: the successor is stored for any existing credential.
        Some(old) if rotates(&old, successor) => match run(memory.rotate_key(account, id, ends_at, successor, by))? {
            None => run(memory.create_key(successor, by)).map(|()| Some(old)),
            rotated => Ok(rotated),
        },
        _ => Ok(None),
    })
}

fn is_same_account(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.identity.account == new.record.identity.account
}

fn is_unexpired(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.expires_at.is_none_or(|expiry| expiry > new.record.created_at)
}

/// Renames a key twice, so that a call without a change has events.
fn log_two_renames(memory: &MemoryStorage, id: &str) {
    let Some(CredentialRecord { identity, name, .. }) = record(memory, id) else { return };
    for name in ["another", name.as_deref().unwrap_or_default()] {
        run(memory.rename_key(&identity.account, id, name, &Actor::OWNER)).unwrap();
    }
}

flaws! {
    every_credential_is_an_api_key: Broken::new().credential(|found| {
        found.iter_mut().for_each(|found| found.identity.kind = CredentialKind::ApiKey);
    }) => lookup { revoked_credential_is_found_as_revoked };
    digests_are_compared_by_first_byte: comparing_part_of_digest(|digest| &digest.as_bytes()[..1])
        => lookup { credential_is_found_only_by_whole_digest } revocations { revoked_token_is_found_only_by_whole_digest };
    digests_end_at_zero_byte: comparing_part_of_digest(|digest| {
        digest.as_bytes().split(|byte| *byte == 0).next().unwrap_or(&[])
    }) => lookup { credential_is_found_only_by_whole_digest };
    unknown_scopes_are_dropped: Broken::new().credential(|found| for found in found.iter_mut() {
        let identity = &mut found.identity;
        identity.scopes = identity.scopes.iter().filter(|scope| !matches!(scope, Scope::Other(_))).cloned().collect();
    }) => lookup { scopes_are_stored_unchanged };
    expired_credential_is_not_found: Broken::new().credential(|found| {
        found.take_if(|found| found.expires_at.is_some_and(|expiry| expiry <= Timestamp::now()));
    }) => lookup { expiry_is_stored_to_declared_precision };
    revoked_credential_is_not_found: Broken::new().credential(|found| {
        found.take_if(|found| found.revoked_at.is_some());
    }) => lookup { revoked_credential_is_found_as_revoked } key_changes { second_revocation_does_not_change_time };
    lookups_are_cached: {
        let cache = Cache::new();
        Broken::new().find_credential(move |memory, digest| {
            Ok(cache.first(*digest, || run(memory.find_credential(digest)).unwrap()))
        })
    } => key_creation { key_is_active_from_creation };

    revocation_lookups_are_cached: {
        let cache = Cache::new();
        Broken::new().is_revoked(move |memory, digest| {
            Ok(cache.first(*digest, || run(memory.is_revoked(digest)).unwrap()))
        })
    } => revocations { revocation_applies_from_next_lookup };
    only_first_token_of_call_is_revoked: Broken::new().revoke_tokens(|memory, digests, expires_at, at| {
        run(memory.revoke_tokens(&digests[..1], expires_at, at))
    }) => token_revocations { all_tokens_of_call_are_revoked };
    revocation_succeeds_without_effect: Broken::new().revoked(|revoked| *revoked = None)
        => token_revocations { all_tokens_of_call_are_revoked };
    revocation_ends_at_expiry: Broken::new().revoke_tokens(|memory, digests, expires_at, at| {
        run(memory.revoke_tokens(digests, expires_at, at.checked_add(DAY).unwrap()))
    }) => token_revocations { revocation_is_retained_for_a_day_after_expiry };
    revocations_are_retained_forever: Broken::new().revoke_tokens(|memory, digests, expires_at, _| {
        run(memory.revoke_tokens(digests, expires_at, Timestamp::MIN))
    }) => token_revocations { later_revocations_remove_those_past_retention };
    token_of_unknown_account_is_not_revoked: Broken::new().is_revoked(|memory, digest| {
        Ok(run(memory.is_revoked(digest))?.map(|revoked| revoked && !accounts(memory).is_empty()))
    }) => token_revocations { removing_account_leaves_revocations };

    creation_adds_missing_account: Broken::new().create_key(|memory, key, by| {
        put(memory, Some(&account(&key.record.identity.account)), &[])?;
        run(memory.create_key(key, by))
    }) => key_creation { key_of_unknown_account_is_refused };
    existing_key_is_accepted: Broken::new().create_key(|memory, key, by| match run(memory.create_key(key, by)) {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }) => key_creation { existing_key_is_refused };

    every_actor_is_the_owner: Broken::new().events(|all| all.iter_mut().for_each(|event| event.actor = Actor::OWNER))
        => key_events { each_change_records_one_event } sign_in_events { each_change_records_one_event };
    second_revocation_is_logged: Broken::new().revoke_key(|memory, account, id, at, by| {
        record(memory, id).filter(|key| key.revoked_at.is_some()).inspect(|_| log_two_renames(memory, id));
        run(memory.revoke_key(account, id, at, by))
    }) => key_events { calls_without_change_record_no_event };
    events_are_listed_oldest_first: Broken::new().events(|all| all.reverse())
        => key_events { events_are_listed_newest_first };
    events_have_current_names: Broken::new().list_events(|memory, account, limit| {
        let name = |event: &CredentialEvent| record(memory, event.credential_id.as_deref()?)?.name;
        let all = run(memory.list_events(account, limit))?.into_iter();
        Ok(all.map(|event| CredentialEvent { name: name(&event), ..event }).collect())
    }) => key_events { events_keep_key_name_at_their_time };
    event_list_ignores_case_of_account: Broken::new().list_events(|memory, account, limit| {
        let mut ids = [account.as_str().to_lowercase(), account.as_str().to_uppercase()].map(AccountId::new).to_vec();
        ids.dedup();
        Ok(ids.iter().flat_map(|id| run(memory.list_events(id, limit)).unwrap()).collect())
    }) => key_events { events_belong_to_one_account };

    unknown_account_has_empty_list: Broken::new().keys(|keys| *keys = Some(keys.take().unwrap_or_default()))
        => key_lists { ended_keys_are_listed_up_to_limit };
    keys_are_listed_newest_first: altering_keys(|keys| keys.reverse())
        => key_lists { keys_are_listed_as_stored_oldest_first_with_ties_by_id };
    absent_name_is_empty: altering_keys(|keys| {
        keys.iter_mut().for_each(|key| key.name = Some(key.name.take().unwrap_or_default()));
    }) => key_lists { keys_are_listed_as_stored_oldest_first_with_ties_by_id };
    revoked_keys_are_not_listed: altering_keys(|keys| keys.retain(|key| key.revoked_at.is_none()))
        => key_lists { ended_keys_are_listed_up_to_limit };
    list_ignores_limit_of_ended_keys: Broken::new().list_keys(|memory, account, now, _| {
        run(memory.list_keys(account, now, usize::MAX))
    }) => key_lists { ended_keys_are_listed_up_to_limit };
    list_has_at_most_one_ended_key: Broken::new().list_keys(|memory, account, now, ended| {
        run(memory.list_keys(account, now, ended.min(1)))
    }) => key_lists { ended_keys_are_listed_up_to_limit } key_retention { creation_removes_at_most_100_ended_keys };
    key_lookup_ignores_account: Broken::new().find_key(|memory, _, id| Ok(record(memory, id)))
        => key_lists { key_is_found_by_id_in_its_account };

    names_are_trimmed: Broken::new().rename_key(|memory, account, id, name, by| {
        run(memory.rename_key(account, id, name.trim(), by))
    }) => key_changes { key_accepts_any_name };
    ended_key_is_not_renamed: Broken::new().rename_key(|memory, account, id, name, by| match record(memory, id) {
        Some(key) if key.revoked_at.is_some() => Ok(None),
        _ => run(memory.rename_key(account, id, name, by)),
    }) => key_changes { ended_key_can_be_renamed };
    rename_ignores_account: Broken::new().rename_key(|memory, account, id, name, by| {
        run(memory.rename_key(record(memory, id).as_ref().map_or(account, |key| &key.identity.account), id, name, by))
    }) => key_changes { unknown_key_is_neither_renamed_nor_revoked };
    ended_key_is_found_forever: {
        let found = Cache::new();
        Broken::new().find_credential(move |memory, digest| Ok(found.last(digest, run(memory.find_credential(digest))?)))
    } => key_retention { ended_keys_are_retained_for_400_days };
    only_15_events_are_retained: Broken::new().events(|all| all.truncate(15))
        => key_retention { last_renames_of_key_keep_their_events };
    second_revocation_returns_its_time: Broken::new().revoke_key(|memory, account, id, at, by| {
        Ok(run(memory.revoke_key(account, id, at, by))?.map(|key| CredentialRecord { revoked_at: Some(at), ..key }))
    }) => key_changes { second_revocation_does_not_change_time };
    revocation_ignores_account: Broken::new().revoke_key(|memory, account, id, at, by| {
        run(memory.revoke_key(record(memory, id).as_ref().map_or(account, |key| &key.identity.account), id, at, by))
    }) => key_changes { unknown_key_is_neither_renamed_nor_revoked };

    rotation_does_not_end_old_key: Broken::new().rotate_key(|memory, account, id, _, successor, by| {
        run(memory.rotate_key(account, id, Timestamp::MAX, successor, by))
    }) => key_rotation { rotation_ends_old_key_and_stores_successor rotated_key_ends_at_earlier_of_both_ends };
    revoked_key_is_rotated: rotating_if(|old, new| is_same_account(old, new) && is_unexpired(old, new))
        => key_rotation { only_active_key_is_rotated };
    key_of_other_account_is_rotated: rotating_if(|old, new| old.revoked_at.is_none() && is_unexpired(old, new))
        => key_rotation { only_active_key_is_rotated };
    replaced_key_is_rotated_again: rotating_if(|old, new| {
        is_same_account(old, new) && is_unexpired(old, new) && old.revoked_at.is_none()
    }) => key_rotation { key_with_successor_is_not_rotated_again };
    refused_rotation_ends_key: Broken::new().rotate_key(|memory, account, id, ends_at, successor, by| {
        run(memory.rotate_key(account, id, ends_at, successor, by)).inspect_err(|_| {
            run(memory.revoke_key(account, id, ends_at, by)).unwrap();
        })
    }) => key_rotation { refused_successor_leaves_key_unchanged };
}
