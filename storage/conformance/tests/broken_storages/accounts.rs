//! Flaws of lists and removals of accounts, of lists of all accounts' credentials, and of account filters.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{
    Account, AccountSummary, Accounts, AdminStorage, CredentialRecord, Record, RemovedAccount,
};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::{CourseStorage, MemoryStorage, Revision};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{Broken, all_credentials, begin, credential, credentials, records, remove_account, run, summaries};
use crate::flaws;

/// Alters lists of accounts.
fn altering_summaries(alter: impl Fn(&mut Vec<AccountSummary>) + Send + Sync + 'static) -> Broken {
    Broken::new().summaries(move |memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        alter(&mut all);
        all
    })
}

/// Counts keys by another rule.
fn counting_keys_by(counts: impl Fn(&CredentialRecord, Timestamp) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().summaries(move |memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        for summary in &mut all {
            let keys = credentials(memory, &summary.account.id).unwrap_or_default();
            summary.keys = keys.iter().filter(|key| counts(key, now)).count() as u64;
        }
        all
    })
}

/// Alters the result of removals.
fn altering_removal(
    alter: impl Fn(&AccountId, Option<RemovedAccount>) -> Option<RemovedAccount> + Send + Sync + 'static,
) -> Broken {
    Broken::new().remove_account(move |memory, account| alter(account, remove_account(memory, account)))
}

/// Finds credential records even after their account was removed.
fn retaining_records() -> Broken {
    let found = Arc::new(Mutex::new(Vec::new()));
    let retained = Arc::clone(&found);
    Broken::new()
        .remove_account(move |memory, account| {
            found.lock().unwrap().extend(credentials(memory, account).unwrap_or_default());
            remove_account(memory, account)
        })
        .record(move |memory, id| {
            let retained = retained.lock().unwrap();
            let gone = retained.iter().find(|record| *record.identity.credential_id == *id).cloned();
            run(memory.find_credential_record(id)).unwrap().or(gone)
        })
}

/// Removes all accounts whose ids have the prefix.
fn removing_by_prefix() -> Broken {
    Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        let ids = records(memory).into_iter().filter_map(|record| match record {
            Record::Account(other) if other.id.as_str().starts_with(account.as_str()) => Some(other.id),
            _ => None,
        });
        ids.for_each(|id| drop(remove_account(memory, &id)));
        Some(removed)
    })
}

/// Recreates removed accounts, without courses.
fn recreating_removed() -> Broken {
    Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        let mut import = begin(memory).unwrap();
        let empty = Account { id: account.clone(), name: String::new(), email: String::new() };
        run(import.put_account(&empty)).unwrap();
        run(import.commit()).unwrap();
        Some(removed)
    })
}

/// Derives revisions from the account's content.
fn revision_of_content(memory: &MemoryStorage, account: &AccountId) -> Option<Revision> {
    run(memory.revision(account)).unwrap()?;
    let courses = summaries(memory, Accounts::Only(std::slice::from_ref(account)), Timestamp::MIN);
    let mut bytes = [0; 16];
    bytes[0] = u8::try_from(courses[0].courses).unwrap();
    bytes[1] = account.as_str().bytes().fold(0, u8::wrapping_add);
    Some(Revision::from_bytes(bytes))
}

flaws! {
    accounts_are_ordered_case_insensitively: altering_summaries(|all| all.sort_by_key(|summary| summary.account.id.as_str().to_lowercase()))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "by id, by bytes";
    list_omits_accounts_without_courses: altering_summaries(|all| all.retain(|summary| summary.courses > 0))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "by id, by bytes";
    course_count_includes_modules: altering_summaries(|all| all.iter_mut().for_each(|summary| summary.courses *= 3))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "the number of its courses";
    key_count_includes_revoked_keys: counting_keys_by(|key, now| {
        key.identity.kind == CredentialKind::ApiKey && key.expires_at.is_none_or(|expiry| expiry > now)
    }) => administration::accounts::only_active_keys_are_counted, "neither revoked nor expired";
    key_count_includes_keys_at_expiry: counting_keys_by(|key, now| {
        let is_active = key.revoked_at.is_none() && key.expires_at.is_none_or(|expiry| expiry >= now);
        key.identity.kind == CredentialKind::ApiKey && is_active
    }) => administration::accounts::only_active_keys_are_counted, "neither revoked nor expired";
    key_count_includes_oauth_tokens: counting_keys_by(|key, now| key.state(now).is_active())
        => administration::accounts::only_active_keys_are_counted, "API keys are counted";
    account_list_ignores_filter: Broken::new().summaries(|memory, _, now| summaries(memory, Accounts::All, now))
        => administration::accounts::account_filter_lists_only_named_accounts, "contains only these";
    filtered_list_has_order_of_filter: Broken::new().summaries(|memory, accounts, now| match accounts {
        Accounts::All => summaries(memory, accounts, now),
        Accounts::Only(ids) => {
            ids.iter().flat_map(|id| summaries(memory, Accounts::Only(std::slice::from_ref(id)), now)).collect()
        }
    }) => administration::accounts::account_filter_lists_only_named_accounts, "contains only these";
    account_list_ends_after_eight: Broken::new().summaries(|memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        all.truncate(8);
        all
    }) => administration::accounts::list_stops_when_visitor_breaks, "ends when its visitor breaks";

    removal_keeps_empty_account: recreating_removed()
        => administration::account_removal::removing_account_removes_all_its_data, "is not exported";
    credential_records_survive_account_removal: retaining_records()
        => administration::account_removal::removing_account_removes_all_its_data, "is found by its id";
    credential_lookups_survive_account_removal: {
        let gone = Arc::new(Mutex::new(Vec::new()));
        let retained = Arc::clone(&gone);
        Broken::new()
            .credential(move |memory, digest| {
                let found = credential(memory, digest);
                found.or_else(|| retained.lock().unwrap().first().cloned())
            })
            .remove_account(move |memory, account| {
                let held = catalogue_core::auth::BearerToken::new("key-a").unwrap().digest();
                gone.lock().unwrap().extend(credential(memory, &held));
                remove_account(memory, account)
            })
    } => administration::account_removal::removing_account_removes_all_its_data, "No credential of a removed account is found";
    removal_includes_accounts_with_id_prefix: removing_by_prefix()
        => administration::account_removal::removing_account_leaves_other_accounts_unchanged, "leaves other accounts unchanged";
    removal_of_unknown_account_returns_counts: altering_removal(|_, removed| removed.or_else(|| Some(RemovedAccount::default())))
        => administration::account_removal::removing_account_returns_removed_counts, "an unknown account returns None";
    removal_does_not_count_modules: altering_removal(|_, removed| removed.map(|removed| RemovedAccount { modules: 0, ..removed }))
        => administration::account_removal::removing_account_returns_removed_counts, "counts of courses, modules, keys and tokens";
    revision_depends_only_on_content: Broken::new().revision(revision_of_content)
        => administration::account_removal::recreated_account_starts_empty, "never gets a revision of the removed one";

    all_credentials_are_ordered_by_creation: Broken::new().all_credentials(|memory, accounts| {
        let mut all = all_credentials(memory, accounts);
        all.sort_by_key(|record| record.created_at);
        all
    }) => administration::credential_records::records_of_all_accounts_are_ordered_by_account, "ordered by account";
    all_credentials_are_ordered_by_id: Broken::new().all_credentials(|memory, accounts| {
        let mut all = all_credentials(memory, accounts);
        let key = |record: &CredentialRecord| (record.identity.account.clone(), record.identity.credential_id.clone());
        all.sort_by_key(key);
        all
    }) => administration::credential_records::records_of_all_accounts_are_ordered_by_account, "then as in its list";
    credential_list_ignores_account_filter: Broken::new().all_credentials(|memory, _| {
        all_credentials(memory, Accounts::All)
    }) => administration::credential_records::account_filter_returns_only_records_of_named_accounts, "none of another account";
    export_ignores_account_filter: Broken::new().export(|memory, _, visit| {
        run(memory.export(Accounts::All, visit)).unwrap();
    }) => administration::export::account_filter_exports_only_named_accounts, "only these and their courses";
    filtered_export_includes_other_courses: Broken::new().export(|memory, accounts, visit| {
        let _ = records(memory).into_iter().filter(|record| match (record, accounts) {
            (Record::Account(account), Accounts::Only(ids)) => ids.contains(&account.id),
            _ => true,
        }).try_for_each(visit);
    }) => administration::export::account_filter_exports_only_named_accounts, "only these and their courses";
    filtered_export_is_grouped_by_account: Broken::new().export(|memory, accounts, visit| match accounts {
        Accounts::All => run(memory.export(accounts, visit)).unwrap(),
        Accounts::Only(ids) => {
            let ended = ids.iter().try_for_each(|id| {
                let mut ended = ControlFlow::Continue(());
                let mut one = |record| { ended = visit(record); ended };
                run(memory.export(Accounts::Only(std::slice::from_ref(id)), &mut one)).unwrap();
                ended
            });
            let _ = ended;
        }
    }) => administration::export::account_filter_exports_only_named_accounts, "only these and their courses";
}
