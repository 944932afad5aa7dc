//! Flaws of rotations of keys, of lookups of credential records, and of last uses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue_core::admin::{CredentialRecord, CredentialUse, NewCredential};
use catalogue_core::storage::StorageErrorKind;
use catalogue_core::{AccountId, Course, Timestamp};

use crate::broken::{
    Broken, begin, courses, create, credential, credentials, record, record_uses, revoke, rotate, run,
};
use crate::flaws;

/// Alters uses before they are recorded.
fn altering_uses(alter: impl Fn(&mut Vec<CredentialUse>) + Send + Sync + 'static) -> Broken {
    Broken::new().record_uses(move |memory, uses| {
        let mut uses = uses.to_vec();
        alter(&mut uses);
        record_uses(memory, &uses)
    })
}

/// Rotates a key if `rotates` returns `true` for the stored credential and the successor.
fn rotating_if(rotates: impl Fn(&CredentialRecord, &NewCredential) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().rotate(move |memory, account, id, ends_at, successor, by| match record(memory, id) {
        Some(old) if rotates(&old, successor) => {
            // Skips the checks of the memory storage: the successor is stored for any existing credential.
            let rotated = rotate(memory, account, id, ends_at, successor, by)?;
            if rotated.is_none() {
                create(memory, successor, by)?;
            }
            Ok(rotated.or(Some(old)))
        }
        _ => Ok(None),
    })
}

fn is_same_account(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.identity.account == new.record.identity.account
}

fn is_unexpired(old: &CredentialRecord, new: &NewCredential) -> bool {
    old.expires_at.is_none_or(|expiry| expiry > new.record.created_at)
}

/// Finds no credentials after a use was recorded.
fn hiding_used_credentials() -> Broken {
    let used = Arc::new(AtomicBool::new(false));
    let is_hidden = Arc::clone(&used);
    Broken::new()
        .record_uses(move |memory, uses| {
            used.store(true, Ordering::SeqCst);
            record_uses(memory, uses)
        })
        .credential(move |memory, digest| credential(memory, digest).filter(|_| !is_hidden.load(Ordering::SeqCst)))
}

flaws! {
    record_is_found_by_id_prefix: Broken::new().record(|memory, id| {
        let all = ["a", "b"].map(|account| credentials(memory, &AccountId::new(account)).unwrap_or_default()).concat();
        all.into_iter().find(|record| record.identity.credential_id.starts_with(id))
    }) => administration::credential_records::record_is_found_by_id, "finds no record";
    record_lacks_last_use: Broken::new().record(|memory, id| {
        record(memory, id).map(|record| CredentialRecord { last_used_at: None, ..record })
    }) => administration::credential_records::record_is_found_by_id, "as it was stored";

    rotation_does_not_end_old_key: Broken::new().rotate(|memory, account, id, _, successor, by| {
        rotate(memory, account, id, Timestamp::MAX, successor, by)
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "with its end";
    rotation_stores_another_successor: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let (_, mut other) = NewCredential::api_key(AccountId::new("a"), "", Default::default());
        other.record.created_at = Timestamp::MIN;
        let replaced_by = Some(successor.record.identity.credential_id.clone());
        let rotated = rotate(memory, account, id, ends_at, &other, by)?;
        Ok(rotated.map(|record| CredentialRecord { replaced_by, ..record }))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "stores the new one";
    rotation_returns_unchanged_record: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let before = record(memory, id);
        Ok(rotate(memory, account, id, ends_at, successor, by)?.and(before))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "returns the replaced key";
    rotation_extends_expiry: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        Ok(rotated.map(|record| CredentialRecord { expires_at: Some(ends_at), ..record }))
    }) => keys::key_rotation::rotated_key_ends_at_earlier_of_both_ends, "The earlier of";
    revoked_key_is_rotated: rotating_if(|old, new| is_same_account(old, new) && is_unexpired(old, new))
        => keys::key_rotation::only_active_key_is_rotated, "Only an active key";
    expired_key_is_rotated: rotating_if(|old, new| is_same_account(old, new) && old.revoked_at.is_none())
        => keys::key_rotation::only_active_key_is_rotated, "Only an active key";
    key_of_other_account_is_rotated: rotating_if(|old, new| old.revoked_at.is_none() && is_unexpired(old, new))
        => keys::key_rotation::only_active_key_is_rotated, "Only an active key";
    rotation_does_not_return_successor: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by)?;
        Ok(rotated.map(|record| CredentialRecord { replaced_by: None, ..record }))
    }) => keys::key_rotation::rotation_ends_old_key_and_stores_successor, "and its successor";
    replaced_key_is_rotated_again: rotating_if(|old, new| {
        is_same_account(old, new) && is_unexpired(old, new) && old.revoked_at.is_none()
    }) => keys::key_rotation::key_with_successor_is_not_rotated_again, "is not rotated again";
    refused_rotation_ends_key: Broken::new().rotate(|memory, account, id, ends_at, successor, by| {
        let rotated = rotate(memory, account, id, ends_at, successor, by);
        if rotated.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::AlreadyExists) {
            revoke(memory, account, id, ends_at, by);
        }
        rotated
    }) => keys::key_rotation::refused_successor_leaves_key_unchanged, "no key ends";

    uses_are_truncated_to_milliseconds: altering_uses(|uses| {
        for used in uses {
            let truncated = used.at.as_microseconds() / 1_000 * 1_000;
            used.at = Timestamp::from_microseconds(truncated).unwrap();
        }
    }) => administration::credential_uses::use_is_recorded_to_the_microsecond, "to the microsecond";
    uses_of_oauth_tokens_are_ignored: altering_uses(|uses| uses.retain(|used| used.credential_id.starts_with("key_")))
        => administration::credential_uses::use_is_recorded_to_the_microsecond, "its own credential";
    only_last_use_of_call_is_stored: altering_uses(|uses| {
        let last = uses.pop();
        uses.clear();
        uses.extend(last);
    }) => administration::credential_uses::latest_use_is_stored, "latest of several uses";
    use_of_unknown_credential_fails: Broken::new().record_uses(|memory, uses| {
        let unknown = uses.iter().find(|used| record(memory, &used.credential_id).is_none());
        match unknown {
            Some(_) => Err(catalogue_core::storage::StorageError::new(StorageErrorKind::UnknownReference, "unknown")),
            None => record_uses(memory, uses),
        }
    }) => administration::credential_uses::use_of_unknown_credential_is_ignored, "even of unknown credentials";
    use_ignores_account: Broken::new().record_uses(|memory, uses| {
        let mut uses = uses.to_vec();
        for used in &mut uses {
            let found = record(memory, &used.credential_id);
            used.account = found.map_or(used.account.clone(), |found| found.identity.account);
        }
        record_uses(memory, &uses)
    }) => administration::credential_uses::use_of_unknown_credential_is_ignored, "is ignored";
    use_of_revoked_credential_is_ignored: Broken::new().record_uses(|memory, uses| {
        let is_active = |used: &&CredentialUse| {
            record(memory, &used.credential_id).is_some_and(|key| key.revoked_at.is_none())
        };
        record_uses(memory, &uses.iter().filter(is_active).cloned().collect::<Vec<_>>())
    }) => administration::credential_uses::use_of_revoked_credential_is_recorded, "revoked credential is recorded";
    use_replaces_revision: Broken::new().record_uses(|memory, uses| {
        // A course with another title has another revision.
        let mut import = begin(memory)?;
        for course in courses(memory) {
            run(import.put_course(&Course { title: "Other".to_owned(), ..course }))?;
        }
        run(import.commit())?;
        record_uses(memory, uses)
    }) => administration::credential_uses::use_does_not_change_revision_or_lookup, "leaves the revision";
    use_hides_credential: hiding_used_credentials()
        => administration::credential_uses::use_does_not_change_revision_or_lookup, "the lookup result";
}
