//! Flaws of credentials.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, CredentialRecord};
use catalogue_core::auth::{Credential, CredentialKind, Scope, TokenDigest};
use catalogue_core::storage::{CourseStorage, CredentialStorage, StorageErrorKind};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{Broken, begin, create, credential, credentials, keys, remove_account, revoke, run};
use crate::flaws;
use crate::imports::BrokenImport;

/// Alters each credential that is found.
fn altering_credential(alter: impl Fn(&mut Credential) + Send + Sync + 'static) -> Broken {
    Broken::new().credential(move |memory, digest| {
        let mut found = credential(memory, digest)?;
        alter(&mut found);
        Some(found)
    })
}

/// Alters lists of credentials.
fn altering_records(alter: impl Fn(&mut Vec<CredentialRecord>) + Send + Sync + 'static) -> Broken {
    Broken::new().keys(move |memory, account, at, ended| {
        let mut records = keys(memory, account, at, ended)?;
        alter(&mut records);
        Some(records)
    })
}

/// Finds credentials by a part of their digest.
fn comparing_part_of_digest(part: fn(&TokenDigest) -> &[u8]) -> Broken {
    let stored: Arc<Mutex<Vec<TokenDigest>>> = Arc::default();
    let all = Arc::clone(&stored);
    Broken::new()
        .create(move |memory, credential, by| {
            create(memory, credential, by)?;
            stored.lock().unwrap().push(credential.digest);
            Ok(())
        })
        .credential(move |memory, digest| {
            let all = all.lock().unwrap();
            let found = all.iter().find(|stored| part(stored) == part(digest))?;
            run(memory.find_credential(found)).unwrap()
        })
}

/// Finds no credential after an import has pruned courses.
fn removing_on_import() -> Broken {
    let replaced = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&replaced);
    Broken::new()
        .begin(move |memory| {
            let replaced = Arc::clone(&replaced);
            let import = BrokenImport::over(memory)?.prune(move |inner| {
                replaced.store(true, Ordering::SeqCst);
                run(inner.prune()).unwrap()
            });
            Ok(import.boxed())
        })
        .credential(move |memory, digest| credential(memory, digest).filter(|_| !gone.load(Ordering::SeqCst)))
}

/// Lists keys even after their account was removed.
fn retaining_keys() -> Broken {
    let gone: Arc<Mutex<Vec<CredentialRecord>>> = Arc::default();
    let retained = Arc::clone(&gone);
    Broken::new()
        .remove_account(move |memory, account| {
            gone.lock().unwrap().extend(credentials(memory, account).unwrap_or_default());
            remove_account(memory, account)
        })
        .keys(move |memory, account, at, ended| {
            keys(memory, account, at, ended).or_else(|| {
                let retained = retained.lock().unwrap();
                let left: Vec<_> = retained.iter().filter(|key| key.identity.account == *account).cloned().collect();
                (!left.is_empty()).then_some(left)
            })
        })
}

flaws! {
    every_credential_is_an_api_key: altering_credential(|credential| credential.identity.kind = CredentialKind::ApiKey)
        => credentials::lookup::credential_is_found_with_all_fields, "all its fields";
    credential_is_found_by_first_byte: comparing_part_of_digest(|digest| &digest.as_bytes()[..1])
        => credentials::lookup::credential_is_found_only_by_whole_digest, "by its whole digest";
    credential_is_found_by_last_byte: comparing_part_of_digest(|digest| &digest.as_bytes()[31..])
        => credentials::lookup::credential_is_found_only_by_whole_digest, "by its whole digest";
    digest_ends_at_zero_byte: comparing_part_of_digest(|digest| {
        let bytes = digest.as_bytes();
        &bytes[..bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len())]
    }) => credentials::lookup::credential_is_found_only_by_whole_digest, "by its whole digest";
    unknown_scopes_are_dropped: altering_credential(|credential| {
        let known = credential.identity.scopes.iter().filter(|scope| !matches!(scope, Scope::Other(_)));
        credential.identity.scopes = known.cloned().collect();
    }) => credentials::lookup::scopes_are_stored_unchanged, "unknown ones";
    expiry_is_truncated_to_seconds: altering_credential(|credential| {
        let seconds = credential.expires_at.map(|expiry| expiry.as_microseconds().div_euclid(1_000_000));
        credential.expires_at = seconds.and_then(|seconds| Timestamp::from_microseconds(seconds * 1_000_000));
    }) => credentials::lookup::expiry_is_stored_to_the_microsecond, "to the microsecond";
    expired_credential_is_not_found: Broken::new().credential(|memory, digest| {
        credential(memory, digest).filter(|found| found.expires_at.is_none_or(|expiry| expiry > Timestamp::now()))
    }) => credentials::lookup::expiry_is_stored_to_the_microsecond, "hides no credential";
    revoked_credential_is_not_found: Broken::new().credential(|memory, digest| {
        credential(memory, digest).filter(|found| found.revoked_at.is_none())
    }) => credentials::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    revoked_credential_is_found_as_active: altering_credential(|credential| credential.revoked_at = None)
        => credentials::lookup::revoked_credential_is_found_as_revoked, "found as revoked";
    oauth_tokens_are_not_revoked: Broken::new().revoke(|memory, account, id, at, by| {
        id.starts_with("key_").then(|| revoke(memory, account, id, at, by)).flatten()
    }) => credentials::lookup::revoked_credential_is_found_as_revoked, "Revoking a credential returns its record";
    revocation_returns_unchanged_record: Broken::new().revoke(|memory, account, id, at, by| {
        revoke(memory, account, id, at, by).map(|record| CredentialRecord { revoked_at: None, ..record })
    }) => keys::key_revocation::revoking_returns_record, "returns its record, revoked";
    second_revocation_returns_its_time: Broken::new().revoke(|memory, account, id, at, by| {
        revoke(memory, account, id, at, by).map(|record| CredentialRecord { revoked_at: Some(at), ..record })
    }) => keys::key_revocation::second_revocation_does_not_change_time, "first revocation does not change";
    key_ids_are_case_insensitive: Broken::new().revoke(|memory, account, id, at, by| revoke(memory, account, &id.to_lowercase(), at, by))
        => keys::key_revocation::revoking_unknown_key_returns_none, "not a key of the account returns None";
    creation_adds_missing_account: Broken::new().create(|memory, credential, by| {
        let id = credential.record.identity.account.clone();
        let mut import = begin(memory)?;
        run(import.put_account(&Account { id, name: String::new(), email: String::new() }))?;
        run(import.commit())?;
        create(memory, credential, by)
    }) => keys::key_creation::key_of_unknown_account_is_refused, "UnknownReference";
    existing_key_is_silently_accepted: Broken::new().create(|memory, credential, by| match create(memory, credential, by) {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => Ok(()),
        outcome => outcome,
    }) => keys::key_creation::existing_key_is_refused, "AlreadyExists";
    credential_has_revision_of_other_account: Broken::new().credential(|memory, digest| {
        let mut found = credential(memory, digest)?;
        found.revision = run(memory.revision(&AccountId::new("b"))).ok()?;
        Some(found)
    }) => combined::credential_revision::credential_has_current_revision, "current revision";
    import_removes_credentials: removing_on_import()
        => administration::credential_records::import_leaves_credentials_unchanged, "leaves credentials unchanged";

    unknown_account_has_empty_list: Broken::new().keys(|memory, account, at, ended| {
        Some(keys(memory, account, at, ended).unwrap_or_default())
    }) => keys::key_lists::empty_list_and_unknown_account_differ, "unknown account has no list";
    account_without_keys_has_no_list: Broken::new().keys(|memory, account, at, ended| {
        keys(memory, account, at, ended).filter(|records| !records.is_empty())
    }) => keys::key_lists::empty_list_and_unknown_account_differ, "has an empty list";
    removed_account_has_key_list: retaining_keys()
        => keys::key_lists::removed_account_has_no_key_list, "no list of keys";
    keys_are_listed_newest_first: altering_records(|records| records.reverse())
        => keys::key_lists::keys_are_listed_oldest_first_with_ties_by_id, "oldest first";
    ties_are_ordered_case_insensitively: altering_records(|records| {
        records.sort_by_key(|record| (record.created_at, record.identity.credential_id.to_lowercase()));
    }) => keys::key_lists::keys_are_listed_oldest_first_with_ties_by_id, "ties by id";
    absent_name_is_empty: altering_records(|records| {
        records.iter_mut().for_each(|record| record.name = Some(record.name.take().unwrap_or_default()));
    }) => keys::key_lists::records_are_listed_as_stored, "as they were stored";
    revoked_keys_are_not_listed: altering_records(|records| records.retain(|record| record.revoked_at.is_none()))
        => keys::key_lists::revoked_keys_stay_listed, "listed as revoked";
}
