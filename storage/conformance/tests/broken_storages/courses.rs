//! Flaws of courses: lists, pages, lookups, stored fields and revisions.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{
    CourseStorage, MemoryStorage, PageRequest, Position, Revision, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, Timestamp};
use catalogue_storage_conformance::sample;

use crate::broken::{Broken, Cache, courses, run, to_milliseconds};
use crate::flaws;

pub(crate) fn position(course: &Course) -> Position {
    Position { created_at: course.created_at, slug: course.slug.clone() }
}

/// Returns the account's courses in the order of its list.
pub(crate) fn own(memory: &MemoryStorage, account: &AccountId) -> Vec<Course> {
    selected(memory, |course| course.account == *account)
}

fn selected(memory: &MemoryStorage, select: impl Fn(&Course) -> bool) -> Vec<Course> {
    let mut courses: Vec<_> = courses(memory).into_iter().filter(select).collect();
    courses.sort_by_key(|course| Reverse(position(course)));
    courses
}

fn follows(course: &Course, request: &PageRequest) -> bool {
    request.after.as_ref().is_none_or(|after| position(course) < *after)
}

/// Lists the courses that `list` returns, up to the requested number of rows.
fn listing(list: impl Fn(&MemoryStorage, &AccountId, &PageRequest) -> Vec<Course> + Send + Sync + 'static) -> Broken {
    Broken::new().list_courses(move |memory, account, request, rows| {
        let listed = list(memory, account, request);
        let _ = listed.iter().try_for_each(|course| rows.push(sample::row(course), || position(course)));
        run(memory.revision(account))
    })
}

/// Fills pages with the courses of any account for which `select` returns `true`.
fn selecting(select: impl Fn(&AccountId, &Course) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, request| {
        selected(memory, |course| select(account, course) && follows(course, request))
    })
}

/// Orders lists by `key`, ascending.
fn ordering_by<K: Ord>(key: impl Fn(&Position) -> K + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, request| {
        let mut rows = own(memory, account);
        rows.sort_by_key(|course| key(&position(course)));
        rows.retain(|course| request.after.as_ref().is_none_or(|after| key(&position(course)) > key(after)));
        rows
    })
}

/// Fills pages with the courses for which `follows` returns `true`.
fn continuing_by(follows: impl Fn(&Position, &Position) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, request| {
        let mut rows = own(memory, account);
        rows.retain(|course| request.after.as_ref().is_none_or(|after| follows(&position(course), after)));
        rows
    })
}

/// Alters the rows of each page, which include the extra row.
fn altering_page(alter: impl Fn(&mut Vec<Course>, usize) + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, request| {
        let mut rows = own(memory, account);
        rows.retain(|course| follows(course, request));
        rows.truncate(request.rows());
        alter(&mut rows, request.limit.get());
        rows
    })
}

/// Starts pages after the present position of the course with the cursor's slug, or at the beginning if it was removed.
fn starting_after_course() -> Broken {
    listing(|memory, account, request| {
        let mut rows = own(memory, account);
        let course = request.after.as_ref().and_then(|after| rows.iter().find(|course| course.slug == after.slug));
        let after = course.map(position);
        rows.retain(|course| after.as_ref().is_none_or(|after| position(course) < *after));
        rows
    })
}

/// Finds courses by another comparison of slugs: the stored one first, then the requested one.
fn matching_slugs(matches: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().find_course(move |memory, account, slug| {
        let found = own(memory, account).into_iter().find(|course| matches(&course.slug, slug));
        run(memory.find_course(account, found.as_ref().map_or("", |course| &course.slug)))
    })
}

/// Alters each course that is found.
fn altering_detail(alter: impl Fn(&mut CourseDetail) + Send + Sync + 'static) -> Broken {
    Broken::new().course(move |found| found.value.iter_mut().for_each(&alter))
}

/// Alters each course before it is stored.
pub(crate) fn altering_stored(alter: impl Fn(&mut Course) + Clone + Send + Sync + 'static) -> Broken {
    Broken::new().put_course(move |inner, course| {
        let mut course = course.clone();
        alter(&mut course);
        run(inner.put_course(&course))
    })
}

fn via_double(time: Timestamp) -> Timestamp {
    let seconds = time.as_microseconds() as f64 / 1e6;
    Timestamp::from_microseconds((seconds * 1e6) as i64).unwrap_or(time)
}

pub(crate) fn revision_of(content: impl Hash) -> Revision {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
    Revision::from_bytes(bytes)
}

/// Derives revisions from the part of the account's courses that `part` returns.
fn deriving_revision_from<H: Hash>(part: impl Fn(&AccountId, Vec<Course>) -> H + Send + Sync + 'static) -> Broken {
    Broken::new().revision(move |memory, account| Ok(Some(revision_of(part(account, own(memory, account))))))
}

fn without_bodies(mut courses: Vec<Course>) -> String {
    courses.iter_mut().flat_map(|course| &mut course.modules).for_each(|module| module.content.clear());
    format!("{courses:?}")
}

flaws! {
    courses_are_listed_oldest_first: ordering_by(Position::clone)
        => list { ties_are_ordered_by_descending_slug_bytes } fields { times_are_stored_to_declared_precision };
    ties_are_ordered_by_utf_16: ordering_by(|position| {
        Reverse((position.created_at, position.slug.encode_utf16().collect::<Vec<_>>()))
    }) => list { ties_are_ordered_by_descending_slug_bytes };
    hidden_courses_are_not_listed: selecting(|account, course| course.account == *account && !course.hidden)
        => list { unpublished_and_hidden_courses_are_listed };
    module_count_is_at_most_255: altering_page(|rows, _| {
        rows.iter_mut().for_each(|course| course.modules.truncate(255));
    }) => list { module_count_equals_number_of_modules };
    empty_list_has_empty_row: altering_page(|rows, _| if rows.is_empty() { rows.push(sample::course("", "")) })
        => list { account_without_courses_has_empty_page } paging { page_starts_right_after_position };
    list_is_cached: {
        let lists = Cache::new();
        listing(move |memory, account, request| {
            let list: Vec<_> = lists.first(account.clone(), || own(memory, account));
            list.into_iter().filter(|course| follows(course, request)).collect()
        })
    } =>
        changes { changed_course_is_returned_with_current_content changed_creation_time_moves_course_in_list }
        paging_under_change { paging_returns_every_remaining_course_once };

    page_continues_by_time_only: continuing_by(|position, after| position.created_at < after.created_at)
        => paging { pages_concatenate_to_full_list_for_every_limit page_starts_right_after_position };
    page_repeats_last_course: continuing_by(|position, after| position <= after)
        => paging { page_starts_right_after_position };
    extra_row_is_omitted: altering_page(Vec::truncate)
        => paging { next_is_none_only_on_last_page };
    full_page_has_next: altering_page(|rows, limit| rows.extend(rows.last().filter(|_| rows.len() == limit).cloned()))
        => paging { next_is_none_only_on_last_page };
    position_is_truncated_to_milliseconds: altering_page(|rows, _| {
        rows.iter_mut().for_each(|course| course.created_at = to_milliseconds(course.created_at));
    }) => paging_under_change { paging_returns_every_remaining_course_once };
    page_starts_after_course_of_cursor: starting_after_course()
        => paging_under_change { paging_returns_every_remaining_course_once }
        isolation { position_of_other_account_returns_only_own_courses };

    list_ignores_account: selecting(|_, _| true) => isolation { list_returns_courses_of_one_account };
    account_ids_are_case_insensitive: selecting(|account, course| {
        course.account.as_str().eq_ignore_ascii_case(account.as_str())
    }) => isolation { account_ids_are_compared_by_bytes };
    course_lookup_ignores_account: Broken::new().find_course(|memory, account, slug| {
        let any = courses(memory).into_iter().find(|course| course.slug == slug);
        run(memory.find_course(any.as_ref().map_or(account, |course| &course.account), slug))
    }) => isolation { account_ids_are_compared_by_bytes };
    removal_ignores_account: Broken::new().remove_course(|memory, account, slug| {
        let existed = run(memory.find_course(account, slug))?.value.is_some();
        for course in courses(memory).into_iter().filter(|course| course.slug == slug) {
            run(AdminStorage::remove_course(memory, &course.account, slug))?;
        }
        Ok(existed)
    }) => isolation { writes_do_not_affect_other_accounts };

    course_is_found_by_slug_prefix: matching_slugs(|slug, requested| slug.starts_with(requested))
        => detail { missing_course_returns_none longest_slugs_are_distinguished };
    slugs_are_case_insensitive: matching_slugs(|slug, requested| slug.to_lowercase() == requested.to_lowercase())
        => detail { slugs_are_compared_by_bytes };
    missing_course_is_an_error: Broken::new().find_course(|memory, account, slug| {
        let found = run(memory.find_course(account, slug))?;
        if found.value.is_some() { Ok(found) } else { Err(StorageError::new(StorageErrorKind::Other, "no such row")) }
    }) => detail { missing_course_returns_none };
    removed_course_is_found: {
        let removed = Arc::new(Cache::new());
        let found_before = removed.clone();
        Broken::new()
            .remove_course(move |memory, account, slug| {
                found_before.last(&(account.clone(), slug.to_owned()), run(memory.find_course(account, slug))?.value);
                run(AdminStorage::remove_course(memory, account, slug))
            })
            .find_course(move |memory, account, slug| {
                let mut found = run(memory.find_course(account, slug))?;
                found.value = found.value.or_else(|| removed.last(&(account.clone(), slug.to_owned()), None));
                Ok(found)
            })
    } => changes { removed_course_is_not_returned };
    slugs_are_spliced_into_sql: matching_slugs(|slug, requested| slug == requested || requested.contains("' OR '"))
        => detail { slugs_are_compared_by_bytes };
    course_without_modules_is_not_found: Broken::new().course(|found| {
        found.value.take_if(|course| course.modules.is_empty());
    }) => changes { changed_course_is_returned_with_current_content };
    equal_modules_are_merged: altering_detail(|course| course.modules.dedup_by(|one, other| one.title == other.title))
        => detail { modules_are_ordered_and_numbered_from_one };
    modules_are_ordered_by_title: altering_stored(|course| {
        course.modules.sort_by(|one, other| one.title.cmp(&other.title));
    }) => detail { modules_are_ordered_and_numbered_from_one };
    modules_are_numbered_from_zero: altering_detail(|course| {
        course.modules.iter_mut().for_each(|module| module.number -= 1);
    }) => detail { modules_are_ordered_and_numbered_from_one };

    line_ends_are_converted: altering_stored(|course| {
        course.title = course.title.replace("\r\n", "\n");
        for text in course.modules.iter_mut().flat_map(|module| [&mut module.summary, &mut module.content]) {
            *text = text.replace("\r\n", "\n");
        }
    }) => fields { course_texts_are_stored_unchanged };
    empty_summary_is_replaced_by_body: altering_stored(|course| for module in &mut course.modules {
        if module.summary.is_empty() {
            module.summary.clone_from(&module.content);
        }
    }) => fields { course_texts_are_stored_unchanged };
    empty_access_mode_is_absent: altering_detail(|course| { course.access_mode.take_if(|mode| mode.is_empty()); })
        => fields { course_texts_are_stored_unchanged };
    times_are_stored_as_doubles: altering_stored(|course| {
        course.created_at = via_double(course.created_at);
        course.published_at = course.published_at.map(via_double);
    }) => fields { times_are_stored_to_declared_precision } export { export_contains_every_field };

    revision_changes_on_each_call: {
        let calls = AtomicU64::new(0);
        Broken::new().revision(move |_, _| Ok(Some(revision_of(calls.fetch_add(1, Ordering::SeqCst)))))
    } => revision { revision_is_stable_without_changes } credential_revision { credential_has_current_revision };
    revision_is_account_id: deriving_revision_from(|account, _| account.clone())
        => revision { every_course_change_replaces_revision removing_course_replaces_revision }
        import_atomicity { import_replaces_revision_only_when_committed };
    revision_ignores_removals: {
        let seen = Mutex::new(HashSet::new());
        deriving_revision_from(move |_, courses| {
            let mut seen = seen.lock().unwrap();
            seen.extend(courses.into_iter().map(|course| (course.slug, course.title)));
            seen.len()
        })
    } => revision { removing_course_replaces_revision };
    revision_ignores_bodies: deriving_revision_from(|account, courses| (account.clone(), without_bodies(courses)))
        => revision { every_course_change_replaces_revision };
    revision_ignores_writes_of_single_modules: {
        // Whole courses are put with their account, single modules without it.
        let puts = Arc::new(AtomicU64::new(0));
        let whole = puts.clone();
        let storage = Broken::new().import(move |import, _| {
            let whole = whole.clone();
            import.put_account = Box::new(move |inner, account| {
                whole.fetch_add(1, Ordering::SeqCst);
                run(inner.put_account(account))
            });
        });
        storage.revision(move |_, account| Ok(Some(revision_of((account, puts.load(Ordering::SeqCst))))))
    } => revision { module_change_replaces_revision };
    all_accounts_share_one_revision: Broken::new().revision(|memory, _| {
        Ok(Some(revision_of(format!("{:?}", courses(memory)))))
    }) => revision { changes_do_not_affect_revisions_of_other_accounts };
    revision_is_number_of_courses: deriving_revision_from(|_, courses| courses.len())
        => revision { accounts_with_different_courses_have_different_revisions };
    revision_depends_only_on_content: deriving_revision_from(|account, courses| {
        (account.clone(), format!("{courses:?}"))
    }) => revision { revision_is_never_reused } removal { recreated_account_starts_empty };
    recreated_course_has_old_modules: {
        let modules = Arc::new(Cache::new());
        altering_stored(move |course| course.modules = modules.first(course.slug.clone(), || course.modules.clone()))
    } => changes { recreated_course_has_no_data_of_removed_one };
}
