//! Flaws of lists and their pages.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Mutex;

use catalogue_core::storage::{MemoryStorage, PageRequest, Position};
use catalogue_core::{AccountId, Course, CourseListItem, Timestamp};
use catalogue_storage_conformance::sample;

use crate::broken::{Broken, accounts, courses, list};
use crate::flaws;

/// A course in a list, and where it stands there.
pub(crate) type Row = (CourseListItem, Position);

/// The rows of the courses that are selected, in the order that the contract asks for.
fn rows(memory: &MemoryStorage, select: impl Fn(&Course) -> bool) -> Vec<Row> {
    let row =
        |course: Course| (sample::row(&course).into(), Position { created_at: course.created_at, slug: course.slug });
    let mut rows: Vec<_> = courses(memory).into_iter().filter(select).map(row).collect();
    rows.sort_by_key(|(_, position)| Reverse(position.clone()));
    rows
}

/// Lists of those rows, of which no more are handed over than are wanted.
fn listing(list: impl Fn(&MemoryStorage, &AccountId, &PageRequest) -> Vec<Row> + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, page, rows| {
        let mut listed = list(memory, account, page).into_iter();
        let _ = listed.try_for_each(|(item, position)| rows.push(item.row(), || position));
    })
}

/// The account's rows from where a page starts to the end of the list.
pub(crate) fn all_following(memory: &MemoryStorage, account: &AccountId, page: &PageRequest) -> Vec<Row> {
    let mut rows = rows(memory, |course| course.account == *account);
    rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| position < after));
    rows
}

fn selected(select: impl Fn(&AccountId, &Course) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| select(account, course));
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| position < after));
        rows
    })
}

/// Lists that are ordered by that key, ascending.
fn ordered<K: Ord>(key: impl Fn(&Position) -> K + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.sort_by_key(|(_, position)| key(position));
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| key(position) > key(after)));
        rows
    })
}

/// Pages that hold what follows their start by that condition.
fn following(follows: impl Fn(&Position, &Position) -> bool + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.retain(|(_, position)| page.after.as_ref().is_none_or(|after| follows(position, after)));
        rows
    })
}

/// Lists with something done to the rows of each page and the one beyond it.
fn altering_page(alter: impl Fn(&PageRequest, &mut Vec<Row>) + Send + Sync + 'static) -> Broken {
    listing(move |memory, account, page| {
        let mut rows = all_following(memory, account, page);
        rows.truncate(page.rows());
        alter(page, &mut rows);
        rows
    })
}

/// Lists with something done to each item.
fn altering_items(alter: impl Fn(&mut CourseListItem) + Send + Sync + 'static) -> Broken {
    altering_page(move |_, rows| rows.iter_mut().for_each(|(item, _)| alter(item)))
}

/// Pages that start where the course with the place's slug stands now.
fn starting_at_the_course(absent: fn() -> Option<Position>) -> Broken {
    listing(move |memory, account, request| {
        let rows = rows(memory, |course| course.account == *account);
        let position_of =
            |slug: &str| rows.iter().map(|(_, position)| position).find(|position| position.slug == slug).cloned();
        let after = request.after.as_ref().and_then(|after| position_of(&after.slug).or_else(absent));
        all_following(memory, account, &PageRequest { after, ..request.clone() })
    })
}

/// Pages by number: the next one starts after as many courses as the walk has met.
fn by_offset() -> Broken {
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

/// The first list that an account asked for, for ever.
fn never_refreshed() -> Broken {
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

/// Module counts that grow with the modules, and never become less.
fn counts_that_only_grow() -> Broken {
    let counts: Mutex<HashMap<String, u32>> = Mutex::default();
    altering_items(move |item| {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(item.slug.clone()).or_default();
        *count = item.module_count.max(*count);
        item.module_count = *count;
    })
}

/// The one row of an outer join where no course is.
fn row_of_nothing() -> Row {
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
    handed_over_again_by_a_retry: altering_page(|_, rows| rows.splice(..0, rows.first().cloned()).for_each(drop))
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "pages joined are the whole list";
    a_row_of_nothing: altering_page(|_, rows| {
        if rows.is_empty() {
            rows.push(row_of_nothing());
        }
    }) => courses::list::account_without_courses_has_empty_page, "without courses is empty";
    accounts_found_by_their_beginning: selected(|account, course| course.account.as_str().starts_with(account.as_str()))
        => courses::list::unknown_account_has_empty_page, "An unknown account has no courses";
    oldest_first: ordered(Position::clone)
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ordered_by_the_millisecond: ordered(|position| Reverse((in_milliseconds(position.created_at), position.slug.clone())))
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "to the microsecond";
    ordered_by_the_text_of_the_time: ordered(|position| {
        Reverse((position.created_at.as_microseconds().to_string(), position.slug.clone()))
    })
        => courses::list::courses_are_ordered_newest_first_to_the_microsecond, "newest first";
    ties_in_ascending_order: ordered(|position| (Reverse(position.created_at), position.slug.clone()))
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "descending";
    ties_in_the_order_of_a_locale: ordered(|position| Reverse((position.created_at, without_punctuation(&position.slug))))
        => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    ties_in_the_order_of_utf_16: ordered(|position| {
        Reverse((position.created_at, position.slug.encode_utf16().collect::<Vec<_>>()))
    }) => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    ties_regardless_of_case: ordered(|position| {
        Reverse((position.created_at, position.slug.to_ascii_lowercase(), position.slug.clone()))
    }) => courses::list::ties_are_ordered_by_descending_slug_bytes, "byte by byte";
    without_hidden_courses: selected(|account, course| course.account == *account && !course.hidden)
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    without_unpublished_courses: selected(|account, course| course.account == *account && course.published_at.is_some())
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    none_counted_as_one: altering_items(|item| item.module_count = item.module_count.max(1))
        => courses::list::module_count_equals_number_of_modules, "module count is";
    counted_in_a_byte: altering_items(|item| item.module_count = item.module_count.min(255))
        => courses::list::module_count_equals_number_of_modules, "module count is";
    never_counted_down: counts_that_only_grow() => courses::list::module_count_is_current_after_changes, "module count follows";

    continued_by_time_alone: following(|position, after| position.created_at < after.created_at)
        => courses::paging::pages_concatenate_to_full_list_for_every_limit, "pages joined are the whole list";
    continued_with_the_last_course: following(|position, after| position <= after)
        => courses::paging::page_after_last_course_is_empty, "does not hold the course at whose place it starts";
    continued_by_time_or_slug: following(|position, after| position.created_at < after.created_at || position.slug < after.slug)
        => courses::paging::page_starts_after_position_without_course, "right after its place";
    a_next_page_after_every_full_one: altering_page(|request, rows| {
        let last = rows.last().filter(|_| rows.len() == request.limit.get()).cloned();
        rows.extend(last);
    }) => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    the_row_beyond_a_page_forgotten: altering_page(|request, rows| rows.truncate(request.limit.get()))
        => courses::paging::next_is_none_only_on_last_page, "exactly on the last";
    one_course_less_than_asked_for: altering_page(|request, rows| rows.truncate((request.limit.get() - 1).max(1)))
        => courses::paging::next_is_none_only_on_last_page, "Every page but the last is full";
    creation_times_listed_in_milliseconds: altering_page(|_, rows| {
        for (_, position) in rows {
            position.created_at = Timestamp::from_microseconds(in_milliseconds(position.created_at) * 1_000).unwrap();
        }
    }) => courses::paging::next_is_position_of_last_item, "the place of the last item";
    starting_over_after_a_deleted_course: starting_at_the_course(|| None)
        => courses::paging::page_starts_after_deleted_course, "though its course was deleted";
    ending_after_a_deleted_course: starting_at_the_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::paging::page_starts_after_deleted_course, "though its course was deleted";
    following_a_course_that_moved: starting_at_the_course(|| None)
        => courses::paging::page_starts_after_changed_course, "not after the course that stood there";

    walked_by_offset: by_offset() => courses::paging_under_change::paging_returns_every_remaining_course_once, "A walk never";
    repeating_when_earlier_ones_come: by_offset()
        => courses::paging_under_change::courses_added_before_position_are_not_returned, "neither repeat";
    blind_to_later_courses: never_refreshed()
        => courses::paging_under_change::courses_added_after_position_are_returned, "came to stand after its start";
    listing_deleted_courses: never_refreshed()
        => courses::paging_under_change::paging_ends_when_remaining_courses_are_deleted, "Deleted courses are not listed";

    listed_as_first_seen: never_refreshed()
        => courses::changes::changed_course_is_returned_with_current_content, "listed once and as it is now";
    standing_where_first_seen: never_refreshed()
        => courses::changes::changed_creation_time_moves_course_in_list, "moves in the list";

    without_its_owner: selected(|_, _| true)
        => courses::isolation::list_returns_courses_of_one_account, "no others";
    account_ids_regardless_of_case: Broken::new().list(|memory, account, page, rows| {
        let same = |id: &AccountId| id.as_str().eq_ignore_ascii_case(account.as_str());
        let account = accounts(memory).into_iter().find(same).unwrap_or_else(|| account.clone());
        list(memory, &account, page, rows);
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    account_ids_like_patterns: selected(|account, course| {
        let (pattern, id) = (account.as_str(), course.account.as_str());
        pattern.len() == id.len() && pattern.bytes().zip(id.bytes()).all(|(p, b)| p == b'_' || p == b)
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    foreign_places_refused: starting_at_the_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::isolation::position_of_other_account_returns_only_own_courses, "starts at the place of another account's course";
}
