//! Flaws of lists and their pages.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Mutex;

use catalogue_core::{AccountId, Course, CourseListItem, Limit, MemoryStorage, Page, PageRequest, Position, Timestamp};

use crate::broken::{Broken, accounts, courses, list};
use crate::flaws;

/// A page out of rows in an order of their own.
fn page_of(rows: impl IntoIterator<Item = (CourseListItem, Position)>, limit: Limit) -> Page<CourseListItem> {
    Page::from_rows(rows.into_iter().map(|(item, position)| (item, position.created_at)), limit)
}

type Row = (CourseListItem, Position);

/// The rows of the courses that are selected, in the order that the contract asks for.
fn rows(memory: &MemoryStorage, select: impl Fn(&Course) -> bool) -> Vec<Row> {
    let row = |course: Course| {
        let item = CourseListItem {
            module_count: u32::try_from(course.modules.len()).unwrap(),
            slug: course.slug.clone(),
            title: course.title,
            language: course.language,
            published_at: course.published_at,
            hidden: course.hidden,
        };
        (item, Position { created_at: course.created_at, slug: course.slug })
    };
    let mut rows: Vec<_> = courses(memory).into_iter().filter(select).map(row).collect();
    rows.sort_by_key(|(_, place)| Reverse(place.clone()));
    rows
}

fn selected(select: impl Fn(&AccountId, &Course) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, page| {
        let mut rows = rows(memory, |course| select(account, course));
        rows.retain(|(_, place)| page.after.as_ref().is_none_or(|after| place < after));
        page_of(rows, page.limit)
    })
}

/// Lists that are ordered by that key, ascending.
fn ordered<K: Ord>(key: impl Fn(&Position) -> K + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.sort_by_key(|(_, place)| key(place));
        rows.retain(|(_, place)| page.after.as_ref().is_none_or(|after| key(place) > key(after)));
        page_of(rows, page.limit)
    })
}

/// Pages that hold what follows their start by that condition.
fn following(follows: impl Fn(&Position, &Position) -> bool + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, page| {
        let mut rows = rows(memory, |course| course.account == *account);
        rows.retain(|(_, place)| page.after.as_ref().is_none_or(|after| follows(place, after)));
        page_of(rows, page.limit)
    })
}

/// Lists with something done to each page.
fn altered(alter: impl Fn(&PageRequest, &mut Page<CourseListItem>) + Send + Sync + 'static) -> Broken {
    Broken::new().list(move |memory, account, request| {
        let mut page = list(memory, account, request);
        alter(request, &mut page);
        page
    })
}

/// Pages that start where the course with the place's slug stands now.
fn starting_at_the_course(absent: fn() -> Option<Position>) -> Broken {
    Broken::new().list(move |memory, account, request| {
        let rows = rows(memory, |course| course.account == *account);
        let stands = |slug: &str| rows.iter().map(|(_, place)| place).find(|place| place.slug == slug).cloned();
        let after = request.after.as_ref().and_then(|after| stands(&after.slug).or_else(absent));
        list(memory, account, &PageRequest { after, ..request.clone() })
    })
}

/// Pages by number: the next one starts after as many courses as the walk has met.
fn by_offset() -> Broken {
    let offsets: Mutex<HashMap<(AccountId, Position), usize>> = Mutex::default();
    Broken::new().list(move |memory, account, request| {
        let mut offsets = offsets.lock().unwrap();
        let key = |place: &Position| (account.clone(), place.clone());
        let offset = request.after.as_ref().map_or(0, |after| offsets[&key(after)]);
        let rows = rows(memory, |course| course.account == *account);
        let page = page_of(rows.into_iter().skip(offset), request.limit);
        offsets.extend(page.next.iter().map(|next| (key(next), offset + page.items.len())));
        page
    })
}

/// The first list that an account asked for, for ever.
fn never_refreshed() -> Broken {
    let lists: Mutex<HashMap<AccountId, Vec<Row>>> = Mutex::default();
    Broken::new().list(move |memory, account, page| {
        let mut lists = lists.lock().unwrap();
        let seen = lists.entry(account.clone()).or_insert_with(|| rows(memory, |course| course.account == *account));
        let mut rows = seen.clone();
        rows.retain(|(_, place)| page.after.as_ref().is_none_or(|after| place < after));
        page_of(rows, page.limit)
    })
}

/// Module counts that grow with the modules, and never become less.
fn counts_that_only_grow() -> Broken {
    let counts: Mutex<HashMap<String, u32>> = Mutex::default();
    altered(move |_, page| {
        for item in &mut page.items {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(item.slug.clone()).or_default();
            *count = item.module_count.max(*count);
            item.module_count = *count;
        }
    })
}

fn without_punctuation(slug: &str) -> (String, String) {
    (slug.to_lowercase().replace(|c: char| c.is_ascii_punctuation() || c == ' ', ""), slug.to_owned())
}

fn in_milliseconds(time: Timestamp) -> i64 {
    time.as_microseconds().div_euclid(1_000)
}

flaws! {
    an_empty_page_with_a_next_one: altered(|_, page| {
        page.next = page.next.take().or(Some(Position { created_at: Timestamp::MIN, slug: String::new() }));
    }) => courses::list::an_account_without_courses_has_an_empty_page, "No page follows";
    accounts_found_by_their_beginning: selected(|account, course| course.account.as_str().starts_with(account.as_str()))
        => courses::list::an_unknown_account_has_an_empty_page, "An unknown account has no courses";
    oldest_first: ordered(Position::clone)
        => courses::list::newest_comes_first_to_the_microsecond, "newest first";
    ordered_by_the_millisecond: ordered(|place| Reverse((in_milliseconds(place.created_at), place.slug.clone())))
        => courses::list::newest_comes_first_to_the_microsecond, "to the microsecond";
    ordered_by_the_text_of_the_time: ordered(|place| {
        Reverse((place.created_at.as_microseconds().to_string(), place.slug.clone()))
    })
        => courses::list::newest_comes_first_to_the_microsecond, "newest first";
    ties_in_ascending_order: ordered(|place| (Reverse(place.created_at), place.slug.clone()))
        => courses::list::ties_are_ordered_by_slug_descending_by_bytes, "descending";
    ties_in_the_order_of_a_locale: ordered(|place| Reverse((place.created_at, without_punctuation(&place.slug))))
        => courses::list::ties_are_ordered_by_slug_descending_by_bytes, "byte by byte";
    ties_in_the_order_of_utf_16: ordered(|place| {
        Reverse((place.created_at, place.slug.encode_utf16().collect::<Vec<_>>()))
    }) => courses::list::ties_are_ordered_by_slug_descending_by_bytes, "byte by byte";
    ties_regardless_of_case: ordered(|place| {
        Reverse((place.created_at, place.slug.to_ascii_lowercase(), place.slug.clone()))
    }) => courses::list::ties_are_ordered_by_slug_descending_by_bytes, "byte by byte";
    without_hidden_courses: selected(|account, course| course.account == *account && !course.hidden)
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    without_unpublished_courses: selected(|account, course| course.account == *account && course.published_at.is_some())
        => courses::list::unpublished_and_hidden_courses_are_listed, "unpublished or hidden";
    none_counted_as_one: altered(|_, page| {
        page.items.iter_mut().for_each(|item| item.module_count = item.module_count.max(1));
    }) => courses::list::module_count_is_the_number_of_modules, "module count is";
    counted_in_a_byte: altered(|_, page| {
        page.items.iter_mut().for_each(|item| item.module_count = item.module_count.min(255));
    }) => courses::list::module_count_is_the_number_of_modules, "module count is";
    never_counted_down: counts_that_only_grow() => courses::list::module_count_follows_changes, "module count follows";

    continued_by_time_alone: following(|place, after| place.created_at < after.created_at)
        => courses::paging::pages_joined_are_the_whole_list_for_every_limit, "pages joined are the whole list";
    continued_with_the_last_course: following(|place, after| place <= after)
        => courses::paging::a_page_after_the_last_course_is_empty, "does not hold the course at whose place it starts";
    continued_by_time_or_slug: following(|place, after| place.created_at < after.created_at || place.slug < after.slug)
        => courses::paging::a_page_starts_after_a_place_that_never_was, "right after its place";
    a_next_page_after_every_full_one: altered(|request, page| {
        let full = page.items.len() == request.limit.get() && page.next.is_none();
        page.next = page.next.take().or(full.then_some(Position { created_at: Timestamp::MIN, slug: "a".to_owned() }));
    }) => courses::paging::next_is_none_exactly_on_the_last_page, "exactly on the last";
    one_course_less_than_asked_for: Broken::new().list(|memory, account, request| {
        let limit = request.limit.get().saturating_sub(1).max(1);
        let limit = Limit::new(u8::try_from(limit).unwrap()).unwrap();
        list(memory, account, &PageRequest { limit, ..request.clone() })
    }) => courses::paging::next_is_none_exactly_on_the_last_page, "Every page but the last is full";
    one_course_more_than_asked_for: Broken::new().list(|memory, account, request| {
        let limit = u8::try_from(request.limit.get() + 1).ok().and_then(Limit::new);
        list(memory, account, &PageRequest { limit: limit.unwrap_or(request.limit), ..request.clone() })
    }) => courses::paging::pages_joined_are_the_whole_list_for_every_limit, "at most as many";
    next_cut_to_the_millisecond: altered(|_, page| {
        if let Some(next) = &mut page.next {
            next.created_at = Timestamp::from_microseconds(in_milliseconds(next.created_at) * 1_000).unwrap();
        }
    }) => courses::paging::next_is_the_place_of_the_last_item, "the place of the last item";
    starting_over_after_a_deleted_course: starting_at_the_course(|| None)
        => courses::paging::a_page_starts_after_a_deleted_course, "though its course was deleted";
    ending_after_a_deleted_course: starting_at_the_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::paging::a_page_starts_after_a_deleted_course, "though its course was deleted";
    following_a_course_that_moved: starting_at_the_course(|| None)
        => courses::paging::a_page_starts_after_a_changed_course, "not after the course that stood there";

    walked_by_offset: by_offset() => courses::paging_under_change::a_walk_meets_every_lasting_course_once, "A walk never";
    repeating_when_earlier_ones_come: by_offset()
        => courses::paging_under_change::courses_that_come_earlier_in_the_list_do_not_disturb_a_walk, "neither repeat";
    blind_to_later_courses: never_refreshed()
        => courses::paging_under_change::courses_that_come_later_in_the_list_are_met, "came to stand after its start";
    listing_deleted_courses: never_refreshed()
        => courses::paging_under_change::a_walk_whose_rest_is_deleted_ends, "Deleted courses are not listed";

    listed_as_first_seen: never_refreshed()
        => courses::changes::a_changed_course_is_shown_as_it_is_now, "listed once and as it is now";
    standing_where_first_seen: never_refreshed()
        => courses::changes::another_creation_time_moves_a_course, "moves in the list";

    without_its_owner: selected(|_, _| true)
        => courses::isolation::a_list_never_mixes_accounts, "no others";
    account_ids_regardless_of_case: Broken::new().list(|memory, account, page| {
        let same = |id: &AccountId| id.as_str().eq_ignore_ascii_case(account.as_str());
        let account = accounts(memory).into_iter().find(same).unwrap_or_else(|| account.clone());
        list(memory, &account, page)
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    account_ids_like_patterns: selected(|account, course| {
        let (pattern, id) = (account.as_str(), course.account.as_str());
        pattern.len() == id.len() && pattern.bytes().zip(id.bytes()).all(|(p, b)| p == b'_' || p == b)
    }) => courses::isolation::account_ids_are_compared_by_bytes, "byte by byte";
    foreign_places_refused: starting_at_the_course(|| {
        Some(Position { created_at: Timestamp::MIN, slug: String::new() })
    }) => courses::isolation::a_foreign_place_is_only_a_place, "starts at a foreign place";
}
