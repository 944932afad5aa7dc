//! Flaws of rotated credentials and of their last uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue_core::admin::{CredentialRecord, CredentialUse, NewCredential};
use catalogue_core::storage::StorageErrorKind;
use catalogue_core::{AccountId, Course, Timestamp};

use crate::broken::{Broken, begin, courses, create, credential, credentials, note, now, record, revoke, rotate};
use crate::flaws;

/// Uses with something done to them before they are noted.
fn altering_uses(alter: impl Fn(&mut Vec<CredentialUse>) + Send + Sync + 'static) -> Broken {
    Broken::new().note(move |memory, uses| {
        let mut uses = uses.to_vec();
        alter(&mut uses);
        note(memory, &uses)
    })
}

/// Rotations of which the stored credential is asked first, and may be refused.
fn rotated_if(rotates: impl Fn(&CredentialRecord, &NewCredential) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().rotate(move |memory, account, id, ends_at, successor, by| match record(memory, id) {
        Some(old) if rotates(&old, successor) => {
            // What the memory storage itself asks is left out: the successor is stored for whatever is there.
            let rotated = rotate(memory, account, id, ends_at, successor, by)?;
            if rotated.is_none() {
                create(memory, successor, by)?;
            }
            Ok(rotated.or(Some(old)))
        }
        _ => Ok(None),
    })
}

fn of_one_account(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.identity.account == new.record.identity.account
}

fn unexpired(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.expires_at.is_none_or(|expiry| expiry > new.record.created_at)
}

/// Look-ups that a use makes forget the credential.
fn forgotten_when_used() -> Broken {
    let used = Arc::new(AtomicBool::new(false));
    let forgotten = Arc::clone(&used);
    Broken::new()
        .note(move |memory, uses| {
            used.store(true, Ordering::SeqCst);
            note(memory, uses)
        })
        .credential(move |memory, digest| credential(memory, digest).filter(|_| !forgotten.load(Ordering::SeqCst)))
}

flaws! {
    a_record_by_the_start_of_its_id: Broken::new().record(|memory, id| {
        let all = ["a", "b"].map(|account| credentials(memory, &AccountId::new(account)).unwrap_or_default()).concat();
        all.into_iter().find(|record| record.identity.credential_id.starts_with(id))
    }) => administration::credential_records::record_is_found_by_id, "that no credential has";
    a_record_without_its_last_use: Broken::new().record(|memory, id| {
        record(memory, id).map(|record| CredentialRecord { last_used_at: None, ..record })
    }) => administration::credential_records::record_is_found_by_id, "as it was stored";

    the_old_one_goes_on: Broken::new().rotate(|memory, account, id, _, successor, by| {
        rotate(memory, account, id, Timestamp::MAX, successor, by)
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "which ends";
    no_successor: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let (_, stranger) = NewCredential::api_key(AccountId::new("a"), "", Default::default());
        let mut stranger = stranger;
        stranger.record.created_at = Timestamp::MIN;
        let replaced_by = Some(successor.record.identity.credential_id.clone());
        let rotated = rotate(memory, account, id, ends_at, &stranger, by)?;
        Ok(rotated.map(|record| CredentialRecord { replaced_by, ..record }))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "stores the new one";
    returned_as_it_was: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let before = record(memory, id);
        Ok(rotate(memory, account, id, ends_at, successor, by)?.and(before))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "returns the key";
    an_expiry_put_off: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        Ok(rotated.map(|record| CredentialRecord { expires_at: Some(ends_at), ..record }))
    }) => keys::key_rotation::rotated_key_ends_at_earlier_of_both_ends, "the earlier counts";
    revoked_ones_rotated: rotated_if(|old, new| of_one_account(old, new) && unexpired(old, new))
        => keys::key_rotation::only_active_key_is_rotated, "that holds is rotated";
    expired_ones_rotated: rotated_if(|old, new| of_one_account(old, new) && old.revoked_at.is_none())
        => keys::key_rotation::only_active_key_is_rotated, "that holds is rotated";
    foreign_ones_rotated: rotated_if(|old, new| old.revoked_at.is_none() && unexpired(old, new))
        => keys::key_rotation::only_active_key_is_rotated, "that holds is rotated";
    a_successor_unnamed: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        Ok(rotated.map(|record| CredentialRecord { replaced_by: None, ..record }))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "names its successor";
    replaced_ones_rotated: rotated_if(|old, new| {
        of_one_account(old, new) && unexpired(old, new) && old.revoked_at.is_none()
    }) => keys::key_rotation::key_with_successor_is_not_rotated_again, "is not rotated again";
    ended_by_a_refused_successor: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by);
        if rotated.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::AlreadyExists) {
            revoke(memory, account, id, ends_at, by);
        }
        rotated
    }) => keys::key_rotation::refused_successor_leaves_key_unchanged, "nothing ends";

    uses_in_milliseconds: altering_uses(|uses| {
        for used in uses {
            let whole = used.at.as_microseconds() / 1_000 * 1_000;
            used.at = Timestamp::from_microseconds(whole).unwrap();
        }
    }) => administration::credential_uses::use_is_recorded_to_the_microsecond, "to the microsecond";
    uses_of_keys_alone: altering_uses(|uses| uses.retain(|used| used.credential_id.starts_with("key_")))
        => administration::credential_uses::use_is_recorded_to_the_microsecond, "its own credential";
    the_last_of_a_call_stays: altering_uses(|uses| {
        let last = uses.pop();
        uses.clear();
        uses.extend(last);
    }) => administration::credential_uses::latest_use_is_stored, "greatest time stays";
    strangers_are_an_error: Broken::new().note(|memory, uses| {
        let unknown = uses.iter().find(|used| record(memory, &used.credential_id).is_none());
        match unknown {
            Some(_) => Err(catalogue_core::storage::StorageError::new(StorageErrorKind::UnknownReference, "unknown")),
            None => note(memory, uses),
        }
    }) => administration::credential_uses::use_of_unknown_credential_is_ignored, "also of what is not there";
    uses_of_any_account: Broken::new().note(|memory, uses| {
        let mut uses = uses.to_vec();
        for used in &mut uses {
            let found = record(memory, &used.credential_id);
            used.account = found.map_or(used.account.clone(), |found| found.identity.account);
        }
        note(memory, &uses)
    }) => administration::credential_uses::use_of_unknown_credential_is_ignored, "is passed over";
    uses_of_what_holds_alone: Broken::new().note(|memory, uses| {
        let holds = |used: &&CredentialUse| {
            record(memory, &used.credential_id).is_some_and(|record| record.revoked_at.is_none())
        };
        note(memory, &uses.iter().filter(holds).cloned().collect::<Vec<_>>())
    }) => administration::credential_uses::use_of_revoked_credential_is_recorded, "revoked credential is noted";
    a_use_replaces_the_revision: Broken::new().note(|memory, uses| {
        // A course that is put with another title has another revision.
        let mut import = begin(memory)?;
        for course in courses(memory) {
            now(import.put_course(&Course { title: "Other".to_owned(), ..course }))?;
        }
        now(import.commit())?;
        note(memory, uses)
    }) => administration::credential_uses::use_does_not_change_revision_or_lookup, "leaves the revision";
    a_use_ends_the_look_up: forgotten_when_used()
        => administration::credential_uses::use_does_not_change_revision_or_lookup, "what a look-up finds";
}
