//! Flaws of names, lists and retention of keys, and of the log of changes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, MemoryStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{
    Broken, create, credential, credentials, events, key, keys, record, remove_account, rename, revoke, rotate, run,
};
use crate::flaws;

/// Alters the logs of accounts.
fn altering_events(alter: impl Fn(&mut Vec<CredentialEvent>) + Send + Sync + 'static) -> Broken {
    Broken::new().events(move |memory, account, limit| {
        let mut all = events(memory, account, usize::MAX);
        alter(&mut all);
        all.truncate(limit);
        all
    })
}

/// Never finds keys that were looked up before their creation.
fn caching_absence() -> Broken {
    let absent = Mutex::new(HashSet::new());
    Broken::new().credential(move |memory, digest| {
        let mut absent = absent.lock().unwrap();
        let found = credential(memory, digest).filter(|_| !absent.contains(digest));
        if found.is_none() {
            absent.insert(*digest);
        }
        found
    })
}

/// Retains logs after their account was removed.
fn retaining_removed_events() -> Broken {
    let removed = Arc::new(Mutex::new(Vec::new()));
    let retained = Arc::clone(&removed);
    Broken::new()
        .remove_account(move |memory, account| {
            removed.lock().unwrap().extend(events(memory, account, usize::MAX));
            remove_account(memory, account)
        })
        .events(move |memory, account, limit| {
            let retained = retained.lock().unwrap();
            let old = retained.iter().filter(|event| event.account == *account).cloned();
            events(memory, account, limit).into_iter().chain(old).collect()
        })
}

/// Never removes events from logs.
fn retaining_all_events() -> Broken {
    let remembered = Arc::new(Mutex::new(Vec::<CredentialEvent>::new()));
    let update = move |memory: &MemoryStorage, account: &AccountId| {
        let mut remembered = remembered.lock().unwrap();
        for event in events(memory, account, usize::MAX).into_iter().rev() {
            if !remembered.contains(&event) {
                remembered.push(event);
            }
        }
        let of_account: Vec<_> = remembered.iter().rev().filter(|event| event.account == *account).cloned().collect();
        of_account
    };
    let (created, renamed) = (update.clone(), update.clone());
    Broken::new()
        .create(move |memory, key, by| {
            let outcome = create(memory, key, by);
            created(memory, &key.record.identity.account);
            outcome
        })
        .rename(move |memory, account, id, name, by| {
            let outcome = rename(memory, account, id, name, by);
            renamed(memory, account);
            outcome
        })
        .events(move |memory, account, limit| update(memory, account).into_iter().take(limit).collect())
}

/// Finds keys forever once they were found.
fn caching_keys() -> Broken {
    let remembered = Mutex::new(HashMap::new());
    Broken::new().credential(move |memory, digest| {
        let found = credential(memory, digest);
        let mut remembered = remembered.lock().unwrap();
        match found {
            Some(found) => {
                remembered.insert(*digest, found.clone());
                Some(found)
            }
            None => remembered.get(digest).cloned(),
        }
    })
}

/// Returns at most `max` events of an account, the last ones.
fn limiting_events(max: usize) -> Broken {
    Broken::new().events(move |memory, account, limit| events(memory, account, limit.min(max)))
}

/// Renames a key twice, so that a call without a change has events.
fn log_two_renames(memory: &MemoryStorage, account: &AccountId, id: &str, by: &Actor) {
    let name = record(memory, id).and_then(|record| record.name).unwrap_or_default();
    rename(memory, account, id, "another", by);
    rename(memory, account, id, &name, by);
}

flaws! {
    missing_key_is_cached: caching_absence()
        => keys::key_creation::key_is_active_from_creation, "from its creation on";

    names_are_trimmed: Broken::new().rename(|memory, account, id, name, by| rename(memory, account, id, name.trim(), by))
        => keys::key_names::key_accepts_any_name, "with its new name";
    rename_changes_all_keys: Broken::new().rename(|memory, account, id, name, by| {
        let renamed = rename(memory, account, id, name, by)?;
        for other in credentials(memory, account)? {
            rename(memory, account, &other.identity.credential_id, name, by);
        }
        Some(renamed)
    }) => keys::key_names::key_accepts_any_name, "nothing else is changed";
    ended_key_is_not_renamed: Broken::new().rename(|memory, account, id, name, by| {
        record(memory, id).filter(|key| key.revoked_at.is_none())?;
        rename(memory, account, id, name, by)
    }) => keys::key_names::ended_key_can_be_renamed, "can be renamed";
    rename_ignores_account: Broken::new().rename(|memory, _, id, name, by| {
        rename(memory, &record(memory, id)?.identity.account, id, name, by)
    }) => keys::key_names::renaming_unknown_key_returns_none, "not a key of the account returns None";
    revocation_ignores_account: Broken::new().revoke(|memory, _, id, at, by| {
        revoke(memory, &record(memory, id)?.identity.account, id, at, by)
    }) => keys::key_revocation::revoking_unknown_key_returns_none, "not a key of the account returns None";

    list_ignores_limit_of_ended_keys: Broken::new().keys(|memory, account, at, _| keys(memory, account, at, usize::MAX))
        => keys::key_lists::ended_keys_are_listed_up_to_limit, "up to a limit";
    list_keeps_first_ended_keys: Broken::new().keys(|memory, account, at, ended| {
        let all = keys(memory, account, at, usize::MAX)?;
        let mut gone: Vec<_> = all.iter().filter(|key| key.end().is_some_and(|end| end <= at)).collect();
        gone.sort_by_key(|key| key.end());
        let gone: Vec<_> = gone.into_iter().skip(ended).map(|key| key.identity.credential_id.clone()).collect();
        Some(all.into_iter().filter(|key| !gone.contains(&key.identity.credential_id)).collect())
    }) => keys::key_lists::ended_keys_are_listed_up_to_limit, "those that ended last";
    expiring_keys_are_listed_as_ended: Broken::new().keys(|memory, account, at, ended| {
        let listed = keys(memory, account, at, ended)?.into_iter();
        Some(listed.filter(|key| ended > 0 || key.expires_at.is_none()).collect())
    }) => keys::key_lists::ended_keys_are_listed_up_to_limit, "All active keys are listed";
    key_search_ignores_account: Broken::new().key(|memory, _, id| record(memory, id))
        => keys::key_lists::key_is_found_by_id_in_its_account, "in no other";
    ended_key_is_not_found: Broken::new().key(|memory, account, id| {
        key(memory, account, id).filter(|key| key.revoked_at.is_none())
    }) => keys::key_lists::key_is_found_by_id_in_its_account, "ended or not";

    expired_key_is_not_retained: Broken::new().credential(|memory, digest| {
        credential(memory, digest).filter(|found| found.expires_at.is_none())
    }) => keys::key_retention::ended_keys_are_retained_for_400_days, "within 400 days are retained";
    ended_key_is_found_forever: caching_keys()
        => keys::key_retention::ended_keys_are_retained_for_400_days, "The next creation removes";
    events_of_removed_keys_are_retained: retaining_all_events()
        => keys::key_retention::ended_keys_are_retained_for_400_days, "events are removed with it";
    creation_removes_too_many_keys: Broken::new().keys(|memory, account, at, ended| keys(memory, account, at, ended.min(1)))
        => keys::key_retention::creation_removes_at_most_100_ended_keys, "at most 100 ended keys";
    all_renames_are_retained: retaining_all_events()
        => keys::key_retention::last_renames_of_key_keep_their_events, "all other events are retained";
    only_15_events_are_retained: limiting_events(15)
        => keys::key_retention::last_renames_of_key_keep_their_events, "The last twenty renames";
    sign_in_events_are_retained_forever: retaining_all_events()
        => sign_ins::sign_in_events::creating_a_link_removes_old_events, "for exactly 400 days";

    every_actor_is_the_owner: altering_events(|all| all.iter_mut().for_each(|event| event.actor = Actor::OWNER))
        => keys::key_events::each_change_records_one_event, "contains its actor";
    events_lack_names: altering_events(|all| all.iter_mut().for_each(|event| event.name = None))
        => keys::key_events::each_change_records_one_event, "its action and its key";
    events_have_time_of_clock: altering_events(|all| all.iter_mut().for_each(|event| event.at = Timestamp::now()))
        => keys::key_events::each_change_records_one_event, "the time of its call";
    renames_are_not_logged: altering_events(|all| all.retain(|event| event.action != CredentialAction::KeyRenamed))
        => keys::key_events::each_change_records_one_event, "one event: a renaming";
    rotation_logs_successor: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        log_two_renames(memory, account, &successor.record.identity.credential_id, by);
        Ok(rotated)
    }) => keys::key_events::each_change_records_one_event, "one event: a rotation";
    rename_to_same_name_is_logged: Broken::new().rename(|memory, account, id, name, by| {
        log_two_renames(memory, account, id, by);
        rename(memory, account, id, name, by)
    }) => keys::key_events::calls_without_change_record_no_event, "the current name";
    second_revocation_is_logged: Broken::new().revoke(|memory, account, id, at, by| {
        record(memory, id)?.revoked_at.inspect(|_| log_two_renames(memory, account, id, by));
        revoke(memory, account, id, at, by)
    }) => keys::key_events::calls_without_change_record_no_event, "a second revocation";
    refused_revocation_is_logged: Broken::new().revoke(|memory, account, id, at, by| {
        let revoked = revoke(memory, account, id, at, by);
        if revoked.is_none() && let Some(other) = record(memory, id) {
            log_two_renames(memory, &other.identity.account, id, by);
        }
        revoked
    }) => keys::key_events::calls_without_change_record_no_event, "revoking an unknown key";
    refused_rotation_is_logged: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by);
        if rotated.is_err() {
            log_two_renames(memory, account, id, by);
        }
        rotated
    }) => keys::key_events::calls_without_change_record_no_event, "a refused rotation";
    refused_creation_is_logged: Broken::new().create(|memory, key, by| {
        let created = create(memory, key, by);
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::AlreadyExists) {
            log_two_renames(memory, &key.record.identity.account, &key.record.identity.credential_id, by);
        }
        created
    }) => keys::key_events::calls_without_change_record_no_event, "a refused key";
    events_are_listed_oldest_first: altering_events(|all| all.reverse())
        => keys::key_events::events_are_listed_newest_first, "newest first";
    events_are_ordered_by_time: altering_events(|all| all.sort_by_key(|event| Reverse(event.at)))
        => keys::key_events::events_are_listed_newest_first, "in the order of the changes";
    event_list_ignores_limit_zero: Broken::new().events(|memory, account, limit| events(memory, account, limit.max(1)))
        => keys::key_events::events_are_listed_newest_first, "up to the limit";
    event_list_keeps_first_events: Broken::new().events(|memory, account, limit| {
        let all = events(memory, account, usize::MAX);
        all[all.len().saturating_sub(limit)..].to_vec()
    }) => keys::key_events::events_are_listed_newest_first, "The last events are listed";
    all_events_share_one_id: altering_events(|all| all.iter_mut().for_each(|event| event.id = "evt_".into()))
        => keys::key_events::events_are_listed_newest_first, "the same id";
    events_have_current_names: Broken::new().events(|memory, account, limit| {
        let name = |event: &CredentialEvent| record(memory, event.credential_id.as_deref()?)?.name;
        let all = events(memory, account, limit).into_iter();
        all.map(|event| CredentialEvent { name: name(&event), ..event }).collect()
    }) => keys::key_events::events_keep_key_name_at_their_time, "has the new name";
    event_list_ignores_case_of_account: Broken::new().events(|memory, account, limit| {
        let lower = AccountId::new(account.as_str().to_lowercase());
        let upper = AccountId::new(account.as_str().to_uppercase());
        if lower == upper {
            return events(memory, account, limit);
        }
        [upper, lower].into_iter().flat_map(|account| events(memory, &account, limit)).collect()
    }) => keys::key_events::events_belong_to_one_account, "only its own events";
    events_survive_account_removal: retaining_removed_events()
        => keys::key_events::events_are_removed_with_their_account, "are removed with it";
    removal_deletes_events_of_all_accounts: Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        for other in ["a", "b"].map(AccountId::new) {
            let _ = run(memory.remove_account(&other));
        }
        Some(removed)
    }) => keys::key_events::events_are_removed_with_their_account, "leaves other accounts' events";
}
