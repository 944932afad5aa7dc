//! Flaws of imports, removals and exports.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use catalogue_core::admin::{Account, AdminStorage, Change, Import, Record};
use catalogue_core::storage::{CourseStorage, MemoryStorage, StorageError, StorageErrorKind};
use catalogue_core::{AccountId, Course, CourseModule, Timestamp};

use crate::broken::{Broken, accounts, courses, now, records, remove};
use crate::flaws;
use crate::imports::{BrokenImport, WithoutTransaction};

fn account(id: &AccountId) -> Account {
    Account { id: id.clone(), name: String::new(), email: String::new() }
}

/// A storage whose imports are made so.
fn importing(begin: impl Fn(BrokenImport, &MemoryStorage) -> BrokenImport + Send + Sync + 'static) -> Broken {
    Broken::new().begin(move |memory| Ok(begin(BrokenImport::over(memory)?, memory).boxed()))
}

/// A storage whose imports put a course so.
fn putting(
    put: impl Fn(&mut dyn Import, &Course) -> Result<Change, StorageError> + Clone + Send + Sync + 'static,
) -> Broken {
    importing(move |import, _| import.put_course(put.clone()))
}

/// A storage whose imports say something else of a course.
fn altering_change(change: fn(Change) -> Change) -> Broken {
    putting(move |inner, course| now(inner.put_course(course)).map(change))
}

/// A storage whose exports are altered.
fn exporting(alter: impl Fn(&mut Vec<Record>) + Send + Sync + 'static) -> Broken {
    Broken::new().export(move |memory, _, visit| {
        let mut records = records(memory);
        alter(&mut records);
        let _ = records.into_iter().try_for_each(visit);
    })
}

/// A storage whose exports show what was removed.
fn exporting_removed_ones() -> Broken {
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

/// Modules of removed courses that come back with a course of the same slug.
fn keeping_old_modules() -> Broken {
    let retained: Arc<Mutex<HashMap<String, Vec<CourseModule>>>> = Arc::default();
    putting(move |inner, course| {
        let mut retained = retained.lock().unwrap();
        let modules = retained.entry(course.slug.clone()).or_default();
        if modules.len() < course.modules.len() {
            modules.clone_from(&course.modules);
        }
        now(inner.put_course(&Course { modules: modules.clone(), ..course.clone() }))
    })
}

/// Imports that say what a course was created at before they began.
fn without_own_changes() -> Broken {
    importing(|import, memory| {
        let before = courses(memory);
        import.creation_time(move |_, account, slug| {
            let same = |course: &&Course| course.account == *account && course.slug == slug;
            before.iter().find(same).map(|course| course.created_at)
        })
    })
}

/// Imports that leave a course alone where it looks the same as the one that is there.
fn comparing(look: fn(&Course) -> Course) -> Broken {
    importing(move |import, memory| {
        let before: Vec<_> = courses(memory).iter().map(look).collect();
        import.put_course(move |inner, course| {
            if before.contains(&look(course)) { Ok(Change::Unchanged) } else { now(inner.put_course(course)) }
        })
    })
}

/// Imports that add a course's modules to those that are there.
fn appending_modules() -> Broken {
    importing(|import, memory| {
        let before = courses(memory);
        import.put_course(move |inner, course| {
            let same = |known: &&Course| known.account == course.account && known.slug == course.slug;
            let mut modules = before.iter().find(same).map_or_else(Vec::new, |known| known.modules.clone());
            modules.extend_from_slice(&course.modules);
            now(inner.put_course(&Course { modules, ..course.clone() }))
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
    emails_forgotten: importing(|import, _| import.put_account(|inner, account| {
        now(inner.put_account(&Account { email: String::new(), ..account.clone() }))
    })) => administration::import::putting_account_returns_its_change, "added, changed or left as it was";
    any_slug_taken: putting(|inner, course| {
        let slug = course.slug.replace(['/', '\0', '\n'], "-").chars().take(200).collect::<String>();
        let slug = if slug.is_empty() { "-".to_owned() } else { slug };
        now(inner.put_course(&Course { slug, ..course.clone() }))
    }) => administration::import::course_with_invalid_slug_is_refused, "InvalidValue";
    accounts_put_twice: importing(|import, _| import.put_account(|inner, account| {
        now(inner.put_account(account)).map(|change| if change == Change::Repeated { Change::Changed } else { change })
    })) => administration::import::putting_account_returns_its_change, "is repeated";
    always_changed: altering_change(|change| if change == Change::Unchanged { Change::Changed } else { change })
        => administration::import::course_is_added_then_unchanged, "is unchanged";
    bodies_not_compared: comparing(without_bodies)
        => administration::import::every_difference_is_reported_as_change, "changed by the body of one module";
    order_not_compared: comparing(without_order)
        => administration::import::every_difference_is_reported_as_change, "changed by the order of the modules";
    titles_compared_regardless_of_case: comparing(|course| {
        Course { title: course.title.to_lowercase(), ..course.clone() }
    })
        => administration::import::every_difference_is_reported_as_change, "changed by the title's case";
    courses_put_twice: altering_change(|change| if change == Change::Repeated { Change::Changed } else { change })
        => administration::import::course_put_twice_is_repeated, "is repeated";
    accounts_made_for_courses: putting(|inner, course| {
        now(inner.put_account(&account(&course.account)))?;
        now(inner.put_course(course))
    }) => administration::import::course_of_unknown_account_is_refused, "is an UnknownReference";
    accounts_known_after_the_commit: importing(|import, memory| {
        let known = accounts(memory);
        import.put_course(move |inner, course| {
            let unknown = || StorageError::new(StorageErrorKind::UnknownReference, "no such account");
            known.contains(&course.account).then_some(()).ok_or_else(unknown)?;
            now(inner.put_course(course))
        })
    }) => administration::import::course_of_unknown_account_is_refused, "in the same import";
    accounts_put_before_all_courses: importing(|import, _| import.accounts_first())
        => administration::import::batched_records_are_put_in_order, "one that is put by itself";
    creation_times_of_before: without_own_changes()
        => administration::import::creation_time_reflects_uncommitted_import, "the same import has put";
    created_once_and_for_all: putting(|inner, course| {
        let known = now(inner.creation_time(&course.account, &course.slug))?;
        now(inner.put_course(&Course { created_at: known.unwrap_or(course.created_at), ..course.clone() }))
    }) => administration::import::every_difference_is_reported_as_change, "changed by the creation time.";
    creation_times_compared_by_seconds: putting(|inner, course| {
        let second = |time: Timestamp| time.as_microseconds().div_euclid(1_000_000);
        let known = now(inner.creation_time(&course.account, &course.slug))?;
        let created_at = known.filter(|known| second(*known) == second(course.created_at)).unwrap_or(course.created_at);
        now(inner.put_course(&Course { created_at, ..course.clone() }))
    }) => administration::import::every_difference_is_reported_as_change, "changed by the creation time, by a microsecond";

    seen_before_the_commit: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_atomicity::import_is_invisible_before_commit, "before its commit";
    kept_when_dropped: Broken::new().begin(|memory| Ok(WithoutTransaction::over(memory)))
        => administration::import_atomicity::dropped_import_changes_nothing, "An import that is dropped changes nothing";
    modules_added_to_those_before: appending_modules()
        => administration::import_atomicity::import_without_differences_changes_nothing, "puts what is there changes nothing";
    nothing_pruned: importing(|import, _| import.prune(|_| Vec::new()))
        => administration::import_atomicity::prune_removes_courses_that_were_not_put, "says which";
    pruned_and_misnamed: importing(|import, _| import.prune(|inner| {
        let removed = now(inner.prune()).unwrap();
        removed.into_iter().map(|(account, slug)| (account, slug.to_lowercase())).collect()
    })) => administration::import_atomicity::prune_removes_courses_that_were_not_put, "says which";
    pruned_and_named_again: importing(|import, _| {
        let mut named = Vec::new();
        import.prune(move |inner| { named.extend(now(inner.prune()).unwrap()); named.clone() })
    }) => administration::import_atomicity::prune_removes_courses_that_were_not_put, "once more removes nothing";
    every_account_pruned: importing(|import, memory| {
        let accounts = accounts(memory);
        import.prune(move |inner| {
            accounts.iter().for_each(|id| { now(inner.put_account(&account(id))).unwrap(); });
            now(inner.prune()).unwrap()
        })
    }) => administration::import_atomicity::prune_leaves_other_accounts_unchanged, "without any account put";
    accounts_of_courses_pruned: putting(|inner, course| {
        now(inner.put_account(&account(&course.account)))?;
        now(inner.put_course(course))
    }) => administration::import_atomicity::prune_leaves_other_accounts_unchanged, "that the import has not put";

    nothing_removed: Broken::new().remove(|memory, account, slug| {
        Ok(now(memory.find_course(account, slug))?.value.is_some())
    }) => courses::changes::removed_course_is_not_returned, "is not listed";
    always_said_to_be_removed: Broken::new().remove(|memory, account, slug| remove(memory, account, slug).map(|_| true))
        => administration::removal::removing_returns_whether_course_existed, "says so";
    accounts_gone_with_their_courses: exporting(|records| {
        let owner = |record: &Record| match record {
            Record::Course(course) => Some(course.account.clone()),
            Record::Account(_) => None,
        };
        let owners: Vec<_> = records.iter().filter_map(owner).collect();
        records.retain(|record| !matches!(record, Record::Account(account) if !owners.contains(&account.id)));
    }) => administration::removal::account_remains_after_its_last_course, "An account is there";
    old_modules_come_back: keeping_old_modules()
        => courses::changes::recreated_course_has_no_data_of_removed_one, "no old modules";

    removed_ones_exported: exporting_removed_ones()
        => administration::removal::removed_course_is_not_exported, "is not exported";

    an_account_of_its_own: exporting(|records| records.insert(0, Record::Account(account(&AccountId::new("root")))))
        => administration::export::empty_storage_exports_nothing, "exports nothing";
    exported_regardless_of_case: exporting(|records| records.sort_by_key(key))
        => administration::export::export_orders_accounts_then_courses_by_bytes, "by bytes";
    courses_after_their_account: exporting(|records| records.sort_by_key(|record| match record {
        Record::Account(account) => account.id.clone(),
        Record::Course(course) => course.account.clone(),
    })) => administration::export::export_orders_accounts_then_courses_by_bytes, "all accounts by id, then all courses";
    bodies_not_exported: exporting(|records| for record in records {
        if let Record::Course(course) = record {
            *course = without_bodies(course);
        }
    }) => administration::export::export_contains_every_field, "bodies included";
    creation_times_exported_in_milliseconds: exporting(|records| for record in records {
        if let Record::Course(course) = record {
            let cut = course.created_at.as_microseconds().div_euclid(1_000) * 1_000;
            course.created_at = Timestamp::from_microseconds(cut).unwrap();
        }
    }) => administration::export::export_contains_creation_times_to_the_microsecond, "to the microsecond";
    never_unchanged: altering_change(|change| if change == Change::Unchanged { Change::Changed } else { change })
        => administration::export::reimported_export_changes_nothing, "is unchanged when it is imported again";
    never_broken_off: Broken::new().export(|memory, accounts, visit| {
        let mut all = |record| { let _ = visit(record); ControlFlow::Continue(()) };
        now(memory.export(accounts, &mut all)).unwrap();
    }) => administration::export::export_stops_when_visitor_breaks, "ends where its visitor breaks it off";
}
