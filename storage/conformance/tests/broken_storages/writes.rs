//! Flaws of imports, removals and exports.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, AdminStorage, Change, Import, Record};
use catalogue_core::storage::{CourseStorage, MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};

use crate::broken::{Broken, accounts, courses, records, remove, run};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction};

fn account(id: &AccountId) -> Account {
    Account { id: id.clone(), name: String::new(), email: String::new() }
}

/// Replaces imports.
fn importing(begin: impl Fn(BrokenImport, &MemoryStorage) -> BrokenImport + Send + Sync + 'static) -> Broken {
    Broken::new().begin(move |memory| Ok(begin(BrokenImport::over(memory)?, memory).boxed()))
}

/// Replaces the call that puts a course.
fn putting(
    put: impl Fn(&mut dyn Import, &Course) -> Result<Change, StorageError> + Clone + Send + Sync + 'static,
) -> Broken {
    importing(move |import, _| import.put_course(put.clone()))
}

/// Alters the result of putting a course.
fn altering_change(change: fn(Change) -> Change) -> Broken {
    putting(move |inner, course| run(inner.put_course(course)).map(change))
}

/// Alters exports.
fn exporting(alter: impl Fn(&mut Vec<Record>) + Send + Sync + 'static) -> Broken {
    Broken::new().export(move |memory, _, visit| {
        let mut records = records(memory);
        alter(&mut records);
        let _ = records.into_iter().try_for_each(visit);
    })
}

/// Exports removed courses.
fn exporting_removed_courses() -> Broken {
    let removed: Arc<Mutex<Vec<Record>>> = Arc::default();
    let retained = Arc::clone(&removed);
    Broken::new()
        .remove(move |memory, account, slug| {
            let course = courses(memory).into_iter().find(|course| course.account == *account && course.slug == slug);
            removed.lock().unwrap().extend(course.map(Record::Course));
            remove(memory, account, slug)
        })
        .export(move |memory, _, visit| {
            let _ = records(memory).into_iter().chain(retained.lock().unwrap().clone()).try_for_each(visit);
        })
}

/// Stores the earlier modules of a slug if a course without more modules is put, even after a removal.
fn restoring_old_modules() -> Broken {
    let retained: Arc<Mutex<HashMap<String, Vec<CourseModule>>>> = Arc::default();
    putting(move |inner, course| {
        let mut retained = retained.lock().unwrap();
        let modules = retained.entry(course.slug.clone()).or_default();
        if modules.len() < course.modules.len() {
            modules.clone_from(&course.modules);
        }
        run(inner.put_course(&Course { modules: modules.clone(), ..course.clone() }))
    })
}

/// Returns creation times from before the import began.
fn returning_old_creation_times() -> Broken {
    importing(|import, memory| {
        let before = courses(memory);
        import.creation_time(move |_, account, slug| {
            let same = |course: &&Course| course.account == *account && course.slug == slug;
            before.iter().find(same).map(|course| course.created_at)
        })
    })
}

/// Leaves a stored course unchanged if `compared` returns the same for the new one.
fn comparing_only(compared: fn(&Course) -> Course) -> Broken {
    importing(move |import, memory| {
        let before: Vec<_> = courses(memory).iter().map(compared).collect();
        import.put_course(move |inner, course| {
            if before.contains(&compared(course)) { Ok(Change::Unchanged) } else { run(inner.put_course(course)) }
        })
    })
}

/// Appends a course's modules to the stored ones.
fn appending_modules() -> Broken {
    importing(|import, memory| {
        let before = courses(memory);
        import.put_course(move |inner, course| {
            let same = |known: &&Course| known.account == course.account && known.slug == course.slug;
            let mut modules = before.iter().find(same).map_or_else(Vec::new, |known| known.modules.clone());
            modules.extend_from_slice(&course.modules);
            run(inner.put_course(&Course { modules, ..course.clone() }))
        })
    })
}

fn without_bodies(course: &Course) -> Course {
    let mut course = course.clone();
    course.modules.iter_mut().for_each(|module| module.content.clear());
    course
}

fn without_order(course: &Course) -> Course {
    let mut course = course.clone();
    course.modules.sort_by(|one, two| one.title.cmp(&two.title));
    course
}

fn key(record: &Record) -> (bool, String, String) {
    match record {
        Record::Account(account) => (false, account.id.as_str().to_lowercase(), String::new()),
        Record::Course(course) => (true, course.account.as_str().to_lowercase(), course.slug.to_lowercase()),
    }
}

flaws! {
    account_emails_are_dropped: importing(|import, _| import.put_account(|inner, account| {
        run(inner.put_account(&Account { email: String::new(), ..account.clone() }))
    })) => administration::import::putting_account_returns_its_change, "added, changed or unchanged";
    invalid_slug_is_replaced: putting(|inner, course| {
        let slug = course.slug.replace(['/', '\0', '\n'], "-").chars().take(200).collect::<String>();
        let slug = if slug.is_empty() { "-".to_owned() } else { slug };
        run(inner.put_course(&Course { slug, ..course.clone() }))
    }) => administration::import::course_with_invalid_slug_is_refused, "InvalidValue";
    account_put_twice_is_changed: importing(|import, _| import.put_account(|inner, account| {
        run(inner.put_account(account)).map(|change| if change == Change::Repeated { Change::Changed } else { change })
    })) => administration::import::putting_account_returns_its_change, "is repeated";
    unchanged_course_is_changed: altering_change(|change| if change == Change::Unchanged { Change::Changed } else { change })
        => administration::import::course_is_added_then_unchanged, "is unchanged";
    bodies_are_not_compared: comparing_only(without_bodies)
        => administration::import::every_difference_is_reported_as_change, "changed by the body of one module";
    module_order_is_not_compared: comparing_only(without_order)
        => administration::import::every_difference_is_reported_as_change, "changed by the order of the modules";
    titles_are_compared_case_insensitively: comparing_only(|course| {
        Course { title: course.title.to_lowercase(), ..course.clone() }
    })
        => administration::import::every_difference_is_reported_as_change, "changed by the title's case";
    course_put_twice_is_changed: altering_change(|change| if change == Change::Repeated { Change::Changed } else { change })
        => administration::import::course_put_twice_is_repeated, "is repeated";
    course_adds_missing_account: putting(|inner, course| {
        run(inner.put_account(&account(&course.account)))?;
        run(inner.put_course(course))
    }) => administration::import::course_of_unknown_account_is_refused, "refused as UnknownReference";
    account_is_unknown_until_commit: importing(|import, memory| {
        let known = accounts(memory);
        import.put_course(move |inner, course| {
            let unknown = || StorageError::new(StorageErrorKind::UnknownReference, "no such account");
            known.contains(&course.account).then_some(()).ok_or_else(unknown)?;
            run(inner.put_course(course))
        })
    }) => administration::import::course_of_unknown_account_is_refused, "in the same import";
    batch_puts_accounts_first: importing(|import, _| import.accounts_first())
        => administration::import::batched_records_are_put_in_order, "one in a separate call";
    creation_time_ignores_open_import: returning_old_creation_times()
        => administration::import::creation_time_reflects_uncommitted_import, "the same import has put";
    creation_time_never_changes: putting(|inner, course| {
        let known = run(inner.creation_time(&course.account, &course.slug))?;
        run(inner.put_course(&Course { created_at: known.unwrap_or(course.created_at), ..course.clone() }))
    }) => administration::import::every_difference_is_reported_as_change, "changed by the creation time.";
    creation_times_are_compared_by_seconds: putting(|inner, course| {
        let second = |time: Timestamp| time.as_microseconds().div_euclid(1_000_000);
        let known = run(inner.creation_time(&course.account, &course.slug))?;
        let created_at = known.filter(|known| second(*known) == second(course.created_at)).unwrap_or(course.created_at);
        run(inner.put_course(&Course { created_at, ..course.clone() }))
    }) => administration::import::every_difference_is_reported_as_change, "changed by the creation time, by a microsecond";

    import_is_visible_before_commit: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_atomicity::import_is_invisible_before_commit, "before its commit";
    dropped_import_is_stored: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_atomicity::dropped_import_changes_nothing, "A dropped import changes nothing";
    modules_are_appended: appending_modules()
        => administration::import_atomicity::import_without_differences_changes_nothing, "puts only stored data changes nothing";
    prune_removes_nothing: importing(|import, _| import.prune(|_| Vec::new()))
        => administration::import_atomicity::prune_removes_courses_that_were_not_put, "returns the removed courses";
    prune_returns_wrong_slugs: importing(|import, _| import.prune(|inner| {
        let removed = run(inner.prune()).unwrap();
        removed.into_iter().map(|(account, slug)| (account, slug.to_lowercase())).collect()
    })) => administration::import_atomicity::prune_removes_courses_that_were_not_put, "returns the removed courses";
    second_prune_returns_earlier_courses: importing(|import, _| {
        let mut named = Vec::new();
        import.prune(move |inner| { named.extend(run(inner.prune()).unwrap()); named.clone() })
    }) => administration::import_atomicity::prune_removes_courses_that_were_not_put, "again removes nothing";
    prune_includes_all_accounts: importing(|import, memory| {
        let accounts = accounts(memory);
        import.prune(move |inner| {
            accounts.iter().for_each(|id| { run(inner.put_account(&account(id))).unwrap(); });
            run(inner.prune()).unwrap()
        })
    }) => administration::import_atomicity::prune_leaves_other_accounts_unchanged, "before any account is put";
    prune_includes_accounts_of_put_courses: putting(|inner, course| {
        run(inner.put_account(&account(&course.account)))?;
        run(inner.put_course(course))
    }) => administration::import_atomicity::prune_leaves_other_accounts_unchanged, "that the import has not put";

    removal_removes_nothing: Broken::new().remove(|memory, account, slug| {
        Ok(run(memory.find_course(account, slug))?.value.is_some())
    }) => courses::changes::removed_course_is_not_returned, "is not listed";
    removal_always_returns_true: Broken::new().remove(|memory, account, slug| remove(memory, account, slug).map(|_| true))
        => administration::removal::removing_returns_whether_course_existed, "returns false";
    accounts_without_courses_are_not_exported: exporting(|records| {
        let owner = |record: &Record| match record {
            Record::Course(course) => Some(course.account.clone()),
            Record::Account(_) => None,
        };
        let owners: Vec<_> = records.iter().filter_map(owner).collect();
        records.retain(|record| !matches!(record, Record::Account(account) if !owners.contains(&account.id)));
    }) => administration::removal::account_remains_after_its_last_course, "An account remains";
    recreated_course_has_old_modules: restoring_old_modules()
        => courses::changes::recreated_course_has_no_data_of_removed_one, "no old modules";

    removed_courses_are_exported: exporting_removed_courses()
        => administration::removal::removed_course_is_not_exported, "is not exported";

    export_includes_built_in_account: exporting(|records| records.insert(0, Record::Account(account(&AccountId::new("root")))))
        => administration::export::empty_storage_exports_nothing, "exports nothing";
    export_is_ordered_case_insensitively: exporting(|records| records.sort_by_key(key))
        => administration::export::export_orders_accounts_then_courses_by_bytes, "by bytes";
    export_is_grouped_by_account: exporting(|records| records.sort_by_key(|record| match record {
        Record::Account(account) => account.id.clone(),
        Record::Course(course) => course.account.clone(),
    })) => administration::export::export_orders_accounts_then_courses_by_bytes, "all accounts by id, then all courses";
    bodies_are_not_exported: exporting(|records| for record in records {
        if let Record::Course(course) = record {
            *course = without_bodies(course);
        }
    }) => administration::export::export_contains_every_field, "including bodies";
    creation_times_are_exported_in_milliseconds: exporting(|records| for record in records {
        if let Record::Course(course) = record {
            let cut = course.created_at.as_microseconds().div_euclid(1_000) * 1_000;
            course.created_at = Timestamp::from_microseconds(cut).unwrap();
        }
    }) => administration::export::export_contains_creation_times_to_the_microsecond, "to the microsecond";
    reimported_course_is_changed: altering_change(|change| if change == Change::Unchanged { Change::Changed } else { change })
        => administration::export::reimported_export_changes_nothing, "is unchanged if it is imported again";
    export_ignores_break: Broken::new().export(|memory, accounts, visit| {
        let mut all = |record| { let _ = visit(record); ControlFlow::Continue(()) };
        run(memory.export(accounts, &mut all)).unwrap();
    }) => administration::export::export_stops_when_visitor_breaks, "ends when its visitor breaks";
}
