//! Flaws of lists and their pages.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Mutex;

use catalogue_core::storage::{MemoryStorage, PageRequest, Position};
use catalogue_core::{AccountId, Course, CourseListItem, Timestamp};
use catalogue_storage_conformance::sample;

use crate::broken::{Broken, accounts, courses, list};
use crate::flaws;

/// A course in a list, and its position.
pub(crate) type Row = (CourseListItem, Position);

/// Returns the rows of the courses for which `select` returns `true`, in the order that the contract requires.
fn rows(memory: &MemoryStorage, select: impl Fn(&Course) -> bool) -> Vec<Row> {
    let row =
        |course: Course| (sample::row(&course).into(), Position { created_at: course.created_at, slug: course.slug });
    let mut rows: Vec<_> = courses(memory).into_iter().filter(select).map(row).collect();
    rows.sort_by_key(|(_, position)| Reverse(position.clone()));
    rows
}

/// Lists the rows that `list` returns, up to the requested number.
fn listing(list: impl Fn(&MemoryStorage, &AccountId, &PageRequest) -> Vec<Row> + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, page, rows| {
        let mut listed = list(memory, account, page).into_iter();
        let _ = listed.try_for_each(|(item, position)| rows.push(item.row(), || position));
    })
}

/// Returns the account's rows from the start of a page to the end of the list.
pub(crate) fn all_following(memory: &MemoryStorage, account: &AccountId, page: &PageRequest) -> Vec<Row> {
    let mut rows = rows(memory, |course| course.account == *account);
    rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| position < after));
    rows
}

fn selecting(select: impl Fn(&AccountId, &Course) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| select(account, course));
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| position < after));
        rows
    })
}

/// Orders lists by `key`, ascending.
fn ordering_by<K: Ord>(key: impl Fn(&Position) -> K + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.sort_by_key(|(_, position)| key(position));
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| key(position) > key(after)));
        rows
    })
}

/// Fills pages with the rows for which `follows` returns `true`.
fn following(follows: impl Fn(&Position, &Position) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| follows(position, after)));
        rows
    })
}

/// Alters the rows of each page and the extra row.
fn altering_page(alter: impl Fn(&PageRequest, &mut Vec<Row>) + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = all_following(memory, account, page);
        rows.truncate(page.rows());
        alter(page, &mut rows);
        rows
    })
}

/// Alters each item of a list.
fn altering_items(alter: impl Fn(&mut CourseListItem) + Send + Sync + 'static) -> Broken {
    altering_page(move |_, rows| rows.iter_mut().for_each(|(item, _)| alter(item)))
}

/// Starts pages at the current position of the course with the cursor's slug, or at `default` if it no longer exists.
fn starting_at_course(default: fn() -> Option<Position>) -> Broken {
    listing(move |memory, account, request| {
        let rows = rows(memory, |course| course.account == *account);
        let position_of =
            |slug: &str| rows.iter().map(|(_, position)| position).find(|position| position.slug == slug).cloned();
        let after = request.after.as_ref().and_then(|after| position_of(&after.slug).or_else(default));
        all_following(memory, account, &PageRequest { after, ..request.clone() })
    })
}

/// Pages by offset: the next page skips the number of courses returned before.
fn paging_by_offset() -> Broken {
    let offsets: Mutex<HashMap<(AccountId, Position), usize>> = Mutex::default();
    listing(move |memory, account, request| {
        let mut offsets = offsets.lock().unwrap();
        let key = |position: &Position| (account.clone(), position.clone());
        let offset = request.after.as_ref().map_or(0, |after| offsets[&key(after)]);
        let mut rows = rows(memory, |course| course.account == *account);
        rows.drain(..offset.min(rows.len()));
        let last = rows.get(request.limit.get() - 1);
        offsets.extend(last.map(|(_, last)| (key(last), offset + request.limit.get())));
        rows
    })
}

/// Caches the first list of an account forever.
fn caching_first_list() -> Broken {
    let lists: Mutex<HashMap<AccountId, Vec<Row>>> = Mutex::default();
    listing(move |memory, account, page| {
        let mut lists = lists.lock().unwrap();
        let cached_rows =
            lists.entry(account.clone()).or_insert_with(|| rows(memory, |course| course.account == *account));
        let mut rows = cached_rows.clone();
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| position < after));
        rows
    })
}

/// Counts modules, but never decreases a count.
fn never_decreasing_counts() -> Broken {
    let counts: Mutex<HashMap<String, u32>> = Mutex::default();
    altering_items(move |item| {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(item.slug.clone()).or_default();
        *count = item.module_count.max(*count);
        item.module_count = *count;
    })
}

/// Returns the row that an outer join without courses yields.
fn empty_row() -> Row {
    let nothing = Course { title: String::new(), language: String::new(), ..sample::course("", "") };
    (sample::row(&nothing).into(), Position { created_at: Timestamp::MIN, slug: String::new() })
}

fn without_punctuation(slug: &str) -> (String, String) {
    (slug.to_lowercase().replace(|c: char| c.is_ascii_punctuation() || c == ' ', ""), slug.to_owned())
}

fn in_milliseconds(time: Timestamp) -> i64 {
    time.as_microseconds().div_euclid(1_000)
}

flaws! {
    first_row_is_repeated: altering_page(|_, rows| rows.splice(..0, rows.first().cloned()).for_each(drop))
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "concatenated pages are the whole list";
    empty_list_has_empty_row: altering_page(|_, rows| {
        if rows.is_empty() {
            rows.push(empty_row());
        }
    }) => courses::list::account_without_courses_has_empty_page, "without courses is empty";
    account_is_found_by_id_prefix: selecting(|account, course| course.account.as_str().starts_with(account.as_str()))
        => courses::list::unknown_account_has_empty_page, "An unknown account has no courses";
    courses_are_ordered_oldest_first: ordering_by(Position::clone)
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    times_are_compared_by_milliseconds: ordering_by(|position| Reverse((in_milliseconds(position.created_at), position.slug.clone())))
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "to the microsecond";
    times_are_compared_as_text: ordering_by(|position| {
        Reverse((position.created_at.as_microseconds().to_string(), position.slug.clone()))
    })
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ties_are_ordered_ascending: ordering_by(|position| (Reverse(position.created_at), position.slug.clone()))
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "descending";
    ties_are_ordered_by_locale: ordering_by(|position| Reverse((position.created_at, without_punctuation(&position.slug))))
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    ties_are_ordered_by_utf_16: ordering_by(|position| {
        Reverse((position.created_at, position.slug.encode_utf16().collect::<Vec<_>>()))
    }) => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    ties_are_ordered_case_insensitively: ordering_by(|position| {
        Reverse((position.created_at, position.slug.to_ascii_lowercase(), position.slug.clone()))
    }) => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    list_omits_hidden_courses: selecting(|account, course| course.account == *account && !course.hidden)
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    list_omits_unpublished_courses: selecting(|account, course| course.account == *account && course.published_at.is_some())
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    module_count_is_at_least_one: altering_items(|item| item.module_count = item.module_count.max(1))
        => courses::list::module_count_equals_number_of_modules, "module count is";
    module_count_is_at_most_255: altering_items(|item| item.module_count = item.module_count.min(255))
        => courses::list::module_count_equals_number_of_modules, "module count is";
    module_count_never_decreases: never_decreasing_counts() => courses::list::module_count_is_current_after_changes, "module count is current";

    page_continues_by_time_only: following(|position, after| position.created_at < after.created_at)
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "concatenated pages are the whole list";
    page_repeats_last_course: following(|position, after| position <= after)
        => courses::paging::page_after_last_course_is_empty, "does not contain the course at its start";
    page_continues_by_time_or_slug: following(|position, after| position.created_at < after.created_at || position.slug < after.slug)
        => courses::paging::page_starts_after_position_without_course, "right after its position";
    full_page_has_next: altering_page(|request, rows| {
        let last = rows.last().filter(|_| rows.len() == request.limit.get()).cloned();
        rows.extend(last);
    }) => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    extra_row_is_omitted: altering_page(|request, rows| rows.truncate(request.limit.get()))
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    page_is_one_course_short: altering_page(|request, rows| rows.truncate((request.limit.get() - 1).max(1)))
        => courses::paging::next_is_none_only_on_last_page, "Every page but the last is full";
    positions_are_truncated_to_milliseconds: altering_page(|_, rows| {
        for (_, position) in rows {
            position.created_at = Timestamp::from_microseconds(in_milliseconds(position.created_at) * 1_000).unwrap();
        }
    }) => courses::paging::next_is_position_of_last_item, "the position of the last item";
    paging_restarts_after_deleted_course: starting_at_course(|| None)
        => courses::paging::page_starts_after_deleted_course, "even if its course was deleted";
    paging_ends_after_deleted_course: starting_at_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::paging::page_starts_after_deleted_course, "even if its course was deleted";
    paging_follows_moved_course: starting_at_course(|| None)
        => courses::paging::page_starts_after_changed_course, "not after the course that moved";

    paging_uses_offsets: paging_by_offset() => courses::paging_under_change::paging_returns_every_remaining_course_once, "Paging never";
    paging_repeats_courses_after_insertion: paging_by_offset()
        => courses::paging_under_change::courses_added_before_position_are_not_returned, "paging repeats no courses";
    later_courses_are_not_listed: caching_first_list()
        => courses::paging_under_change::courses_added_after_position_are_returned, "were added after its start";
    deleted_courses_are_listed: caching_first_list()
        => courses::paging_under_change::paging_ends_when_remaining_courses_are_deleted, "Deleted courses are not listed";

    list_shows_first_version: caching_first_list()
        => courses::changes::changed_course_is_returned_with_current_content, "listed once, with its current content";
    course_does_not_move_in_list: caching_first_list()
        => courses::changes::changed_creation_time_moves_course_in_list, "moves in the list";

    list_ignores_account: selecting(|_, _| true)
        => courses::isolation::list_returns_courses_of_one_account, "no others";
    account_ids_are_case_insensitive: Broken::new().list(|memory, account, page, rows| {
        let same = |id: &AccountId| id.as_str().eq_ignore_ascii_case(account.as_str());
        let account = accounts(memory).into_iter().find(same).unwrap_or_else(|| account.clone());
        list(memory, &account, page, rows);
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    account_ids_are_matched_as_patterns: selecting(|account, course| {
        let (pattern, id) = (account.as_str(), course.account.as_str());
        pattern.len() == id.len() && pattern.bytes().zip(id.bytes()).all(|(p, b)| p == b'_' || p == b)
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    position_of_other_account_is_refused: starting_at_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::isolation::position_of_other_account_returns_only_own_courses, "after the position of another account's course";
}
