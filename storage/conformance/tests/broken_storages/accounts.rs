//! Flaws of lists of accounts and of their removal, and of what is shown of some accounts alone.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{
    Account, AccountSummary, Accounts, AdminStorage, CredentialRecord, Record, RemovedAccount,
};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::{CourseStorage, MemoryStorage, Revision};
use catalogue_core::{AccountId, Timestamp};

use crate::broken::{Broken, all_credentials, begin, credential, credentials, now, records, remove_account, summaries};
use crate::flaws;

/// Lists of accounts with something done to them.
fn altering_summaries(alter: impl Fn(&mut Vec<AccountSummary>) + Send + Sync + 'static) -> Broken {
    Broken::new().summaries(move |memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        alter(&mut all);
        all
    })
}

/// Keys counted by another rule.
fn keys_counted(counts: impl Fn(&CredentialRecord, Timestamp) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().summaries(move |memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        for summary in &mut all {
            let keys = credentials(memory, &summary.account.id).unwrap_or_default();
            summary.keys = keys.iter().filter(|key| counts(key, now)).count() as u64;
        }
        all
    })
}

/// Removals that say something else.
fn altering_removal(
    alter: impl Fn(&AccountId, Option<RemovedAccount>) -> Option<RemovedAccount> + Send + Sync + 'static,
) -> Broken {
    Broken::new().remove_account(move |memory, account| alter(account, remove_account(memory, account)))
}

/// Look-ups that find what was there at any time.
fn credentials_outlive() -> Broken {
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
            now(memory.find_credential_record(id)).unwrap().or(gone)
        })
}

/// Removals that take the account whose id begins so, too.
fn removed_by_the_start() -> Broken {
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

/// Accounts that are made again behind the removal, without courses.
fn emptied() -> Broken {
    Broken::new().remove_account(|memory, account| {
        let removed = remove_account(memory, account)?;
        let mut import = begin(memory).unwrap();
        let empty = Account { id: account.clone(), name: String::new(), email: String::new() };
        now(import.put_account(&empty)).unwrap();
        now(import.commit()).unwrap();
        Some(removed)
    })
}

/// Revisions that are made of what the account has.
fn revised_by_content(memory: &MemoryStorage, account: &AccountId) -> Option<Revision> {
    now(memory.revision(account)).unwrap()?;
    let courses = summaries(memory, Accounts::Only(std::slice::from_ref(account)), Timestamp::MIN);
    let mut bytes = [0; 16];
    bytes[0] = u8::try_from(courses[0].courses).unwrap();
    bytes[1] = account.as_str().bytes().fold(0, u8::wrapping_add);
    Some(Revision::from_bytes(bytes))
}

flaws! {
    accounts_listed_regardless_of_case: altering_summaries(|all| all.sort_by_key(|summary| summary.account.id.as_str().to_lowercase()))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "by id, by bytes";
    accounts_without_courses_left_out: altering_summaries(|all| all.retain(|summary| summary.courses > 0))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "by id, by bytes";
    modules_counted_as_courses: altering_summaries(|all| all.iter_mut().for_each(|summary| summary.courses *= 3))
        => administration::accounts::accounts_are_listed_by_id_with_course_counts, "the number of its own courses";
    revoked_keys_counted: keys_counted(|key, now| {
        key.identity.kind == CredentialKind::ApiKey && key.expires_at.is_none_or(|expiry| expiry > now)
    }) => administration::accounts::only_active_keys_are_counted, "neither revoked nor expired";
    keys_counted_at_their_end: keys_counted(|key, now| {
        let holds = key.revoked_at.is_none() && key.expires_at.is_none_or(|expiry| expiry >= now);
        key.identity.kind == CredentialKind::ApiKey && holds
    }) => administration::accounts::only_active_keys_are_counted, "neither revoked nor expired";
    tokens_counted_as_keys: keys_counted(|key, now| key.state(now).is_active())
        => administration::accounts::only_active_keys_are_counted, "Of the API keys those count";
    all_listed_where_some_are_wanted: Broken::new().summaries(|memory, _, now| summaries(memory, Accounts::All, now))
        => administration::accounts::account_filter_lists_only_named_accounts, "these alone are listed";
    listed_as_they_were_named: Broken::new().summaries(|memory, accounts, now| match accounts {
        Accounts::All => summaries(memory, accounts, now),
        Accounts::Only(ids) => {
            ids.iter().flat_map(|id| summaries(memory, Accounts::Only(std::slice::from_ref(id)), now)).collect()
        }
    }) => administration::accounts::account_filter_lists_only_named_accounts, "these alone are listed";
    a_list_that_is_cut: Broken::new().summaries(|memory, accounts, now| {
        let mut all = summaries(memory, accounts, now);
        all.truncate(8);
        all
    }) => administration::accounts::list_stops_when_visitor_breaks, "ends where its visitor breaks it off";

    an_account_that_is_emptied: emptied()
        => administration::account_removal::removing_account_removes_all_its_data, "is not exported";
    credentials_that_outlive_their_account: credentials_outlive()
        => administration::account_removal::removing_account_removes_all_its_data, "is found by its id";
    tokens_that_outlive_their_account: {
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
    accounts_removed_by_the_start_of_their_id: removed_by_the_start()
        => administration::account_removal::removing_account_leaves_other_accounts_unchanged, "leaves the others";
    every_removal_said_to_be_one: altering_removal(|_, removed| removed.or_else(|| Some(RemovedAccount::default())))
        => administration::account_removal::removing_account_returns_removed_counts, "that is not there is None";
    modules_not_counted: altering_removal(|_, removed| removed.map(|removed| RemovedAccount { modules: 0, ..removed }))
        => administration::account_removal::removing_account_returns_removed_counts, "how many courses, modules, keys and tokens";
    revisions_of_the_content: Broken::new().revision(revised_by_content)
        => administration::account_removal::recreated_account_starts_empty, "none of the revisions of the one before";

    all_credentials_oldest_first: Broken::new().all_credentials(|memory, accounts| {
        let mut all = all_credentials(memory, accounts);
        all.sort_by_key(|record| record.created_at);
        all
    }) => administration::credential_records::records_of_all_accounts_are_ordered_by_account, "come by account";
    all_credentials_by_id: Broken::new().all_credentials(|memory, accounts| {
        let mut all = all_credentials(memory, accounts);
        let key = |record: &CredentialRecord| (record.identity.account.clone(), record.identity.credential_id.clone());
        all.sort_by_key(key);
        all
    }) => administration::credential_records::records_of_all_accounts_are_ordered_by_account, "as each is listed";
    all_credentials_where_some_are_wanted: Broken::new().all_credentials(|memory, _| {
        all_credentials(memory, Accounts::All)
    }) => administration::credential_records::account_filter_returns_only_records_of_named_accounts, "none of another account";
    all_exported_where_some_are_wanted: Broken::new().export(|memory, _, visit| {
        now(memory.export(Accounts::All, visit)).unwrap();
    }) => administration::export::account_filter_exports_only_named_accounts, "these and their courses alone";
    courses_of_others_exported: Broken::new().export(|memory, accounts, visit| {
        let _ = records(memory).into_iter().filter(|record| match (record, accounts) {
            (Record::Account(account), Accounts::Only(ids)) => ids.contains(&account.id),
            _ => true,
        }).try_for_each(visit);
    }) => administration::export::account_filter_exports_only_named_accounts, "these and their courses alone";
    exported_account_after_account: Broken::new().export(|memory, accounts, visit| match accounts {
        Accounts::All => now(memory.export(accounts, visit)).unwrap(),
        Accounts::Only(ids) => {
            let ended = ids.iter().try_for_each(|id| {
                let mut ended = ControlFlow::Continue(());
                let mut one = |record| { ended = visit(record); ended };
                now(memory.export(Accounts::Only(std::slice::from_ref(id)), &mut one)).unwrap();
                ended
            });
            let _ = ended;
        }
    }) => administration::export::account_filter_exports_only_named_accounts, "these and their courses alone";
}
