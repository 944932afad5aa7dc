//! Flaws of accounts, imports, exports and credential records.

use std::collections::HashSet;

use catalogue_core::admin::{Account, Accounts, AdminStorage, Change, Record, RemovedAccount};
use catalogue_core::storage::{Actor, KeyStorage};
use catalogue_core::{AccountId, Course};

use crate::broken::{Broken, account, accounts, courses, put, record, run, to_milliseconds, visited};
use crate::flaws;

/// Alters the result of putting a course.
fn altering_change(change: fn(Change) -> Change) -> Broken {
    Broken::new().put_course(move |inner, course| run(inner.put_course(course)).map(change))
}

/// Reports a course as unchanged if `compared` returns the same for it as for a stored one.
fn comparing_only(compared: fn(&mut Course)) -> Broken {
    let part = move |course: &Course| {
        let mut course = course.clone();
        compared(&mut course);
        format!("{course:?}")
    };
    Broken::new().import(move |import, memory| {
        let before: HashSet<_> = courses(memory).iter().map(part).collect();
        import.put_course = Box::new(move |inner, course| match before.contains(&part(course)) {
            true => Ok(Change::Unchanged),
            false => run(inner.put_course(course)),
        });
    })
}

fn clear_bodies(course: &mut Course) {
    course.modules.iter_mut().for_each(|module| module.content.clear());
}

flaws! {
    accounts_are_ordered_case_insensitively: Broken::new().summaries(|all| {
        all.sort_by_key(|summary| summary.account.id.as_str().to_lowercase());
    }) => accounts { accounts_are_listed_by_id_with_course_counts };
    oauth_tokens_are_counted: Broken::new().list_accounts(|memory, accounts, now| {
        let mut all = visited(|visit| run(memory.list_accounts(accounts, now, visit)));
        for summary in &mut all {
            summary.keys = run(memory.list_keys(&summary.account.id, now, 0)).unwrap().unwrap().len() as u64;
        }
        all
    }) => accounts { only_active_keys_are_counted };
    account_filters_are_ignored: Broken::new()
        .list_accounts(|memory, _, now| visited(|visit| run(memory.list_accounts(Accounts::All, now, visit))))
        .export(|memory, _| visited(|visit| run(memory.export(Accounts::All, visit))))
        .visit_credentials(|memory, _| visited(|visit| run(memory.visit_credentials(Accounts::All, visit))))
        => accounts { account_filter_lists_only_named_accounts } export { account_filter_exports_only_named_accounts }
        credential_records { account_filter_returns_only_records_of_named_accounts };
    visits_continue_after_break: Broken::new().visits_after_break()
        => accounts { accounts_are_listed_by_id_with_course_counts } export { export_orders_accounts_then_courses_by_bytes }
        credential_records { records_of_all_accounts_are_ordered_by_account };

    account_removal_removes_nothing: Broken::new().remove_account(|memory, account| {
        Ok(accounts(memory).iter().any(|known| known.id == *account).then(RemovedAccount::default))
    }) => removal {
            removing_account_removes_exactly_its_data recreated_account_starts_empty removing_account_returns_removed_counts
        }
        key_events { events_are_removed_with_their_account }
        sessions { sign_ins_are_removed_with_their_account };
    account_removal_removes_all_accounts: Broken::new().remove_account(|memory, account| {
        let removed = run(memory.remove_account(account))?;
        let others = accounts(memory).into_iter().filter(|_| removed.is_some());
        others.for_each(|other| drop(run(memory.remove_account(&other.id))));
        Ok(removed)
    }) => removal { removing_account_removes_exactly_its_data }
        key_events { events_are_removed_with_their_account };

    record_is_found_by_id_prefix: Broken::new().find_credential_record(|memory, id| {
        let all = visited(|visit| run(memory.visit_credentials(Accounts::All, visit)));
        Ok(all.into_iter().find(|record| record.identity.credential_id.starts_with(id)))
    }) => credential_records { record_is_found_by_id };
    records_are_ordered_by_creation: Broken::new().credentials(|all| all.sort_by_key(|record| record.created_at))
        => credential_records { records_of_all_accounts_are_ordered_by_account };
    pruning_revokes_keys: Broken::new().import(|import, memory| {
        let memory = memory.clone();
        import.prune = Box::new(move |inner| {
            for key in visited(|visit| run(memory.visit_credentials(Accounts::All, visit))) {
                let (account, id) = (&key.identity.account, &key.identity.credential_id);
                run(memory.revoke_key(account, id, key.created_at, &Actor::OPERATOR)).unwrap();
            }
            run(inner.prune()).unwrap()
        });
    }) => import_atomicity { import_is_invisible_before_commit };
    uses_are_truncated_to_milliseconds: Broken::new().record_uses(|memory, uses| {
        let mut uses = uses.to_vec();
        uses.iter_mut().for_each(|used| used.at = to_milliseconds(used.at));
        run(memory.record_uses(&uses))
    }) => credential_uses { use_is_recorded_to_the_microsecond };
    only_last_use_of_call_is_stored: Broken::new().record_uses(|memory, uses| {
        run(memory.record_uses(&uses[uses.len().max(1) - 1..]))
    }) => credential_uses { latest_use_is_stored };
    use_ignores_account: Broken::new().record_uses(|memory, uses| {
        let mut uses = uses.to_vec();
        for used in &mut uses {
            used.account = record(memory, &used.credential_id).map_or(used.account.clone(), |key| key.identity.account);
        }
        run(memory.record_uses(&uses))
    }) => credential_uses { use_of_unknown_credential_is_ignored };
    use_of_revoked_credential_is_ignored: Broken::new().record_uses(|memory, uses| {
        let is_revoked = |id: &str| record(memory, id).is_some_and(|key| key.revoked_at.is_some());
        run(memory.record_uses(&uses.iter().filter(|used| !is_revoked(&used.credential_id)).cloned().collect::<Vec<_>>()))
    }) => credential_uses { latest_use_is_stored };
    use_replaces_revision: Broken::new().record_uses(|memory, uses| {
        let mut courses = courses(memory);
        courses.iter_mut().for_each(|course| course.title.push('!'));
        put(memory, None, &courses)?;
        run(memory.record_uses(uses))
    }) => credential_uses { use_does_not_change_revision_or_lookup };

    export_includes_built_in_account: Broken::new().exported(|records| {
        records.insert(0, Record::Account(account(&AccountId::new("root"))));
    }) => export { export_contains_every_field };
    export_is_ordered_case_insensitively: Broken::new().exported(|records| records.sort_by_key(|record| match record {
        Record::Account(account) => (false, account.id.as_str().to_lowercase(), String::new()),
        Record::Course(course) => (true, course.account.as_str().to_lowercase(), course.slug.to_lowercase()),
    })) => export { export_orders_accounts_then_courses_by_bytes };
    bodies_are_not_exported: Broken::new().exported(|records| {
        records.iter_mut().for_each(|record| if let Record::Course(course) = record { clear_bodies(course) });
    }) => export { export_contains_every_field };
    accounts_without_courses_are_not_exported: Broken::new().exported(|records| {
        let owners = records.iter().filter_map(|record| match record {
            Record::Course(course) => Some(course.account.clone()),
            Record::Account(_) => None,
        });
        let owners: Vec<_> = owners.collect();
        records.retain(|record| !matches!(record, Record::Account(account) if !owners.contains(&account.id)));
    }) => removal { removing_returns_whether_course_existed };
    account_names_lose_control_characters: Broken::new().exported(|records| for record in records {
        if let Record::Account(account) = record {
            account.name.retain(|c| !c.is_control());
        }
    }) => export { export_contains_every_field };
    course_removal_removes_nothing: Broken::new().remove_course(|memory, account, slug| {
        Ok(courses(memory).iter().any(|course| course.account == *account && course.slug == slug))
    }) => changes { removed_course_is_not_returned };
    course_removal_always_returns_true: Broken::new().removed_course(|existed| *existed = true)
        => removal { removing_returns_whether_course_existed };

    account_emails_are_dropped: Broken::new().import(|import, _| {
        import.put_account = Box::new(|inner, account| {
            run(inner.put_account(&Account { email: String::new(), ..account.clone() }))
        });
    }) => import { putting_account_returns_its_change };
    unchanged_course_is_changed: altering_change(|change| {
        if change == Change::Unchanged { Change::Changed } else { change }
    }) => export { reimported_export_changes_nothing };
    repeated_course_is_changed: altering_change(|change| {
        if change == Change::Repeated { Change::Changed } else { change }
    }) => import { course_put_twice_is_repeated };
    bodies_are_not_compared: comparing_only(clear_bodies) => import { every_difference_is_reported_as_change };
    course_adds_missing_account: Broken::new().put_course(|inner, course| {
        run(inner.put_account(&account(&course.account)))?;
        run(inner.put_course(course))
    }) => import { course_of_unknown_account_is_refused batched_records_are_put_in_order }
        import_atomicity { prune_leaves_other_accounts_unchanged };
    creation_time_never_changes: Broken::new().put_course(|inner, course| {
        let created_at = run(inner.creation_time(&course.account, &course.slug))?.unwrap_or(course.created_at);
        run(inner.put_course(&Course { created_at, ..course.clone() }))
    }) => import { creation_time_reflects_uncommitted_import every_difference_is_reported_as_change };
    invalid_slug_is_replaced: crate::courses::altering_stored(|course| {
        if course.slug.is_empty() { course.slug.push('-') }
    }) => import { course_with_invalid_slug_is_refused };
    pruning_removes_nothing: Broken::new().import(|import, _| import.prune = Box::new(|_| Vec::new()))
        => import_atomicity { prune_removes_courses_that_were_not_put };
}
