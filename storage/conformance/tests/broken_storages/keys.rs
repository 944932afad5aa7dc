//! Flaws of names, and of the log of changes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent, MemoryStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{
    Broken, create, credential, credentials, events, key, keys, now, record, remove_account, rename, revoke, rotate,
};
use crate::flaws;

/// The logs of accounts with something done to each.
fn altering_events(alter: impl Fn(&mut Vec<CredentialEvent>) + Send + Sync + 'static) -> Broken {
    Broken::new().events(move |memory, account, most| {
        let mut all = events(memory, account, usize::MAX);
        alter(&mut all);
        all.truncate(most);
        all
    })
}

/// Keys that were looked for before they were created are never found.
fn absence_remembered() -> Broken {
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

/// Logs that outlive their account.
fn events_outlive() -> Broken {
    let gone = Arc::new(Mutex::new(Vec::new()));
    let retained = Arc::clone(&gone);
    Broken::new()
        .remove_account(move |memory, account| {
            gone.lock().unwrap().extend(events(memory, account, usize::MAX));
            remove_account(memory, account)
        })
        .events(move |memory, account, most| {
            let retained = retained.lock().unwrap();
            let old = retained.iter().filter(|event| event.account == *account).cloned();
            events(memory, account, most).into_iter().chain(old).collect()
        })
}

/// Logs of which nothing is ever removed.
fn events_remembered() -> Broken {
    let remembered = Arc::new(Mutex::new(Vec::<CredentialEvent>::new()));
    let note = move |memory: &MemoryStorage, account: &AccountId| {
        let mut remembered = remembered.lock().unwrap();
        for event in events(memory, account, usize::MAX).into_iter().rev() {
            if !remembered.contains(&event) {
                remembered.push(event);
            }
        }
        let of_account: Vec<_> = remembered.iter().rev().filter(|event| event.account == *account).cloned().collect();
        of_account
    };
    let (created, renamed) = (note.clone(), note.clone());
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
        .events(move |memory, account, most| note(memory, account).into_iter().take(most).collect())
}

/// Keys that were found once are found for ever.
fn keys_remembered() -> Broken {
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

/// The last events of an account, up to a number.
fn limited_events(limit: usize) -> Broken {
    Broken::new().events(move |memory, account, most| events(memory, account, most.min(limit)))
}

/// What a call did that did nothing is logged all the same, as two new names.
fn renamed_there_and_back(memory: &MemoryStorage, account: &AccountId, id: &str, by: &Actor) {
    let name = record(memory, id).and_then(|record| record.name).unwrap_or_default();
    rename(memory, account, id, "another", by);
    rename(memory, account, id, &name, by);
}

flaws! {
    absent_keys_remembered: absence_remembered()
        => keys::key_creation::key_is_active_from_creation, "from its creation on";

    names_trimmed: Broken::new().rename(|memory, account, id, name, by| rename(memory, account, id, name.trim(), by))
        => keys::key_names::key_accepts_any_name, "with its new name";
    all_keys_renamed: Broken::new().rename(|memory, account, id, name, by| {
        let renamed = rename(memory, account, id, name, by)?;
        for other in credentials(memory, account)? {
            rename(memory, account, &other.identity.credential_id, name, by);
        }
        Some(renamed)
    }) => keys::key_names::key_accepts_any_name, "nothing else is changed";
    ended_keys_not_renamed: Broken::new().rename(|memory, account, id, name, by| {
        record(memory, id).filter(|key| key.revoked_at.is_none())?;
        rename(memory, account, id, name, by)
    }) => keys::key_names::ended_key_can_be_renamed, "is renamed too";
    foreign_keys_renamed: Broken::new().rename(|memory, _, id, name, by| {
        rename(memory, &record(memory, id)?.identity.account, id, name, by)
    }) => keys::key_names::renaming_unknown_key_returns_none, "no key of the account is None";
    foreign_keys_revoked: Broken::new().revoke(|memory, _, id, at, by| {
        revoke(memory, &record(memory, id)?.identity.account, id, at, by)
    }) => keys::key_revocation::revoking_unknown_key_returns_none, "no key of the account is None";

    ended_keys_without_a_limit: Broken::new().keys(|memory, account, at, _| keys(memory, account, at, usize::MAX))
        => keys::key_lists::ended_keys_are_listed_up_to_limit, "ended ones up to a number";
    the_first_ended_keys_listed: Broken::new().keys(|memory, account, at, ended| {
        let all = keys(memory, account, at, usize::MAX)?;
        let mut gone: Vec<_> = all.iter().filter(|key| key.end().is_some_and(|end| end <= at)).collect();
        gone.sort_by_key(|key| key.end());
        let gone: Vec<_> = gone.into_iter().skip(ended).map(|key| key.identity.credential_id.clone()).collect();
        Some(all.into_iter().filter(|key| !gone.contains(&key.identity.credential_id)).collect())
    }) => keys::key_lists::ended_keys_are_listed_up_to_limit, "from the last end on";
    expiring_keys_listed_as_ended: Broken::new().keys(|memory, account, at, ended| {
        let listed = keys(memory, account, at, ended)?.into_iter();
        Some(listed.filter(|key| ended > 0 || key.expires_at.is_none()).collect())
    }) => keys::key_lists::ended_keys_are_listed_up_to_limit, "Keys that hold are all listed";
    foreign_keys_found: Broken::new().key(|memory, _, id| record(memory, id))
        => keys::key_lists::key_is_found_by_id_in_its_account, "in no other";
    ended_keys_not_found: Broken::new().key(|memory, account, id| {
        key(memory, account, id).filter(|key| key.revoked_at.is_none())
    }) => keys::key_lists::key_is_found_by_id_in_its_account, "ended or not";

    expired_keys_forgotten: Broken::new().credential(|memory, digest| {
        credential(memory, digest).filter(|found| found.expires_at.is_none())
    }) => keys::key_retention::ended_keys_are_retained_for_400_days, "within 400 days stay";
    ended_keys_found_for_ever: keys_remembered()
        => keys::key_retention::ended_keys_are_retained_for_400_days, "goes with the next creation";
    events_of_removed_keys_kept: events_remembered()
        => keys::key_retention::ended_keys_are_retained_for_400_days, "events go with it";
    all_but_one_ended_key_gone: Broken::new().keys(|memory, account, at, ended| keys(memory, account, at, ended.min(1)))
        => keys::key_retention::creation_removes_at_most_100_ended_keys, "a hundred ended keys";
    all_renames_kept: events_remembered()
        => keys::key_retention::last_renames_of_key_keep_their_events, "keep their events, and all else";
    few_renames_kept: limited_events(15)
        => keys::key_retention::last_renames_of_key_keep_their_events, "The last twenty renames";
    events_of_signing_in_kept: events_remembered()
        => sign_ins::sign_in_events::creating_a_link_removes_old_events, "and no longer";

    everybody_an_owner: altering_events(|all| all.iter_mut().for_each(|event| event.actor = Actor::OWNER))
        => keys::key_events::each_change_records_one_event, "who made the change";
    names_not_logged: altering_events(|all| all.iter_mut().for_each(|event| event.name = None))
        => keys::key_events::each_change_records_one_event, "to which key";
    the_clock_logged: altering_events(|all| all.iter_mut().for_each(|event| event.at = Timestamp::now()))
        => keys::key_events::each_change_records_one_event, "the time that its call names";
    new_names_not_logged: altering_events(|all| all.retain(|event| event.action != CredentialAction::KeyRenamed))
        => keys::key_events::each_change_records_one_event, "one event: a renaming";
    successors_logged_too: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        renamed_there_and_back(memory, account, &successor.record.identity.credential_id, by);
        Ok(rotated)
    }) => keys::key_events::each_change_records_one_event, "one event: a rotation";
    the_same_name_logged: Broken::new().rename(|memory, account, id, name, by| {
        renamed_there_and_back(memory, account, id, by);
        rename(memory, account, id, name, by)
    }) => keys::key_events::calls_without_change_record_no_event, "the name that a key has";
    second_revocations_logged: Broken::new().revoke(|memory, account, id, at, by| {
        record(memory, id)?.revoked_at.inspect(|_| renamed_there_and_back(memory, account, id, by));
        revoke(memory, account, id, at, by)
    }) => keys::key_events::calls_without_change_record_no_event, "a second revocation";
    foreign_changes_logged: Broken::new().revoke(|memory, account, id, at, by| {
        let revoked = revoke(memory, account, id, at, by);
        if revoked.is_none() && let Some(foreign) = record(memory, id) {
            renamed_there_and_back(memory, &foreign.identity.account, id, by);
        }
        revoked
    }) => keys::key_events::calls_without_change_record_no_event, "what is not there";
    refused_rotations_logged: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by);
        if rotated.is_err() {
            renamed_there_and_back(memory, account, id, by);
        }
        rotated
    }) => keys::key_events::calls_without_change_record_no_event, "a rotation that is refused";
    refused_keys_logged: Broken::new().create(|memory, key, by| {
        let created = create(memory, key, by);
        if created.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::AlreadyExists) {
            renamed_there_and_back(memory, &key.record.identity.account, &key.record.identity.credential_id, by);
        }
        created
    }) => keys::key_events::calls_without_change_record_no_event, "a key that is refused";
    oldest_events_first: altering_events(|all| all.reverse())
        => keys::key_events::events_are_listed_newest_first, "newest first";
    events_by_the_time_they_name: altering_events(|all| all.sort_by_key(|event| Reverse(event.at)))
        => keys::key_events::events_are_listed_newest_first, "in the order of the changes";
    one_event_at_least: Broken::new().events(|memory, account, most| events(memory, account, most.max(1)))
        => keys::key_events::events_are_listed_newest_first, "as many as are asked for";
    the_first_events_listed: Broken::new().events(|memory, account, most| {
        let all = events(memory, account, usize::MAX);
        all[all.len().saturating_sub(most)..].to_vec()
    }) => keys::key_events::events_are_listed_newest_first, "The last events are listed";
    one_id_for_all_events: altering_events(|all| all.iter_mut().for_each(|event| event.id = "evt_".into()))
        => keys::key_events::events_are_listed_newest_first, "the same id";
    names_of_today_logged: Broken::new().events(|memory, account, most| {
        let name = |event: &CredentialEvent| record(memory, event.credential_id.as_deref()?)?.name;
        let all = events(memory, account, most).into_iter();
        all.map(|event| CredentialEvent { name: name(&event), ..event }).collect()
    }) => keys::key_events::events_keep_key_name_at_their_time, "has that name";
    accounts_logged_regardless_of_case: Broken::new().events(|memory, account, most| {
        let lower = AccountId::new(account.as_str().to_lowercase());
        let upper = AccountId::new(account.as_str().to_uppercase());
        if lower == upper {
            return events(memory, account, most);
        }
        [upper, lower].into_iter().flat_map(|account| events(memory, &account, most)).collect()
    }) => keys::key_events::events_belong_to_one_account, "are its own";
    events_that_outlive_their_account: events_outlive()
        => keys::key_events::events_are_removed_with_their_account, "go with it";
    events_of_all_gone: Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        for other in ["a", "b"].map(AccountId::new) {
            let _ = now(memory.remove_account(&other));
        }
        Some(removed)
    }) => keys::key_events::events_are_removed_with_their_account, "leaves the events of the others";
}
