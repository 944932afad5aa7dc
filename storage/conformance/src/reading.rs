//! Reads of the cases, and their expected results.

use std::io::{Write as _, stderr};
use std::ops::ControlFlow;
use std::thread;

use catalogue_core::admin::{Accounts, AdminStorage, Record, Visitor};
use catalogue_core::storage::{
    AtRevision, CourseRow, CourseRows, CourseStorage, Limit, PageRequest, Position, Revision, StorageError,
    StorageErrorKind,
};
use catalogue_core::{AccountId, Course, CourseDetail, CourseListItem, Timestamp};

use crate::sample::{detail, row};
use crate::{CourseFixture, Fixture};

/// Maximum number of attempts to read.
const ATTEMPTS: usize = 100;

/// A page of a list, as a storage returns it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<CourseListItem>,
    pub(crate) next: Option<Position>,
    pub(crate) revision: Option<Revision>,
}

/// Reads a page as the API does.
pub(crate) async fn read_page(
    storage: &impl CourseStorage,
    account: &AccountId,
    request: &PageRequest,
) -> Result<Page, StorageError> {
    let mut items = Vec::new();
    let mut take = |row: CourseRow<'_>| items.push(row.into());
    let mut rows = CourseRows::new(request.limit, &mut take);
    let revision = storage.list_courses(account, request, &mut rows).await?;
    let next = rows.next();
    Ok(Page { items, next, revision })
}

/// Returns the result of a read. Retries a busy one if the fixture declares that reads may be blocked.
pub(crate) async fn retry_while_blocked<T>(
    fixture: &impl Fixture,
    read: impl AsyncFn() -> Result<T, StorageError>,
) -> Result<T, StorageError> {
    for _ in 1..ATTEMPTS {
        let found = read().await;
        let is_busy = found.as_ref().is_err_and(|error| error.kind() == StorageErrorKind::Busy);
        if !(is_busy && fixture.reads_may_be_blocked()) {
            return found;
        }
    }
    read().await
}

/// Reports that the storage cannot exercise the current test, or the named part of it. The test runner has named the thread.
pub(crate) fn skip(reason: &str) {
    let thread = thread::current();
    let line = format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a case"));
    // Written directly: the test runner captures other output. If it cannot be written, the result is the same.
    let _ = stderr().write_all(line.as_bytes());
}

/// Reads a page of a list.
pub(crate) async fn page(fixture: &impl CourseFixture, account: &str, limit: u8, after: Option<Position>) -> Page {
    let limit = Limit::new(limit).expect("a case's limits are from 1 to 100");
    let account = fixture.account(account).await;
    let request = PageRequest { limit, after: after.clone() };
    let page = retry_while_blocked(fixture, async || read_page(fixture.storage(), &account, &request).await).await;
    let page = page.expect("A list can be read, even of an account without courses and after any position.");
    if let (Some(next), Some(after)) = (&page.next, after) {
        assert!(*next < after, "The next page starts after this one, so paging repeats no courses, and ends.");
    }
    page
}

/// Reads all pages, from the first to the one without `next`.
pub(crate) async fn pages(fixture: &impl CourseFixture, account: &str, limit: u8) -> Vec<Page> {
    let mut pages = vec![page(fixture, account, limit, None).await];
    while let Some(next) = pages.last().and_then(|page| page.next.clone()) {
        pages.push(page(fixture, account, limit, Some(next)).await);
    }
    pages
}

/// Reads all pages and returns their items.
pub(crate) async fn all_items(fixture: &impl CourseFixture, account: &str, limit: u8) -> Vec<CourseListItem> {
    pages(fixture, account, limit).await.into_iter().flat_map(|page| page.items).collect()
}

/// Reads the whole list.
pub(crate) async fn list(fixture: &impl CourseFixture, account: &str) -> Vec<CourseListItem> {
    all_items(fixture, account, 100).await
}

/// Returns the slugs of the whole list.
pub(crate) async fn slugs(fixture: &impl CourseFixture, account: &str) -> Vec<String> {
    list(fixture, account).await.into_iter().map(|item| item.slug).collect()
}

/// Looks up a course.
pub(crate) async fn find(fixture: &impl CourseFixture, account: &str, slug: &str) -> Option<CourseDetail> {
    find_at_revision(fixture, account, slug).await.value
}

/// Looks up a course, and returns it with its revision.
pub(crate) async fn find_at_revision(
    fixture: &impl CourseFixture,
    account: &str,
    slug: &str,
) -> AtRevision<Option<CourseDetail>> {
    let account = fixture.account(account).await;
    let found = retry_while_blocked(fixture, async || fixture.storage().find_course(&account, slug).await).await;
    found.expect("A course can be looked up; a nonexistent one returns None, not an error.")
}

/// Returns the values that a call visits. The visitor breaks after `limit` values.
pub(crate) async fn visited<T: Send>(
    limit: usize,
    call: impl AsyncFnOnce(&mut Visitor<'_, T>) -> Result<(), StorageError>,
) -> Vec<T> {
    let mut values = Vec::new();
    let mut visit = |value| {
        values.push(value);
        if values.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    call(&mut visit).await.expect("A visit succeeds, even of unknown accounts, and even if its visitor breaks.");
    values
}

/// Exports all records.
pub(crate) async fn export(storage: &impl AdminStorage) -> Vec<Record> {
    visited(usize::MAX, async |visit| storage.export(Accounts::All, visit).await).await
}

/// Returns the course as the fixture's tables store it.
pub(crate) fn as_stored(fixture: &impl CourseFixture, course: &Course) -> Course {
    let truncate = |time: Timestamp| fixture.precision().truncate(time);
    let (created_at, published_at) = (truncate(course.created_at), course.published_at.map(truncate));
    let mut as_stored = Course { created_at, published_at, ..course.clone() };
    fixture.strip_unsupported(&mut as_stored);
    as_stored
}

/// Returns a course's position in its account's list.
pub(crate) fn position(fixture: &impl CourseFixture, course: &Course) -> Position {
    Position { created_at: fixture.precision().truncate(course.created_at), slug: course.slug.clone() }
}

/// Returns a course as a list returns it.
pub(crate) fn item_of(fixture: &impl CourseFixture, course: &Course) -> CourseListItem {
    row(&as_stored(fixture, course)).into()
}

/// Returns a course as a lookup returns it.
pub(crate) fn detail_of(fixture: &impl CourseFixture, course: &Course) -> CourseDetail {
    detail(as_stored(fixture, course))
}

/// Returns courses of one account as its list: newest first, ties by slug, descending, byte by byte.
pub(crate) fn listed<'c>(
    fixture: &impl CourseFixture,
    courses: impl IntoIterator<Item = &'c Course>,
) -> Vec<CourseListItem> {
    let mut courses: Vec<_> = courses.into_iter().collect();
    courses.sort_by_key(|course| std::cmp::Reverse(position(fixture, course)));
    courses.into_iter().map(|course| item_of(fixture, course)).collect()
}

/// Asserts that the account's list contains exactly `courses`, in order.
pub(crate) async fn assert_listed<'c>(
    fixture: &impl CourseFixture,
    account: &str,
    courses: impl IntoIterator<Item = &'c Course>,
    rule: &str,
) {
    assert_eq!(list(fixture, account).await, listed(fixture, courses), "{rule}");
}

/// Asserts that the page after `after` contains exactly `items`, and is the last.
pub(crate) async fn assert_last_page(
    fixture: &impl CourseFixture,
    account: &str,
    limit: u8,
    after: Option<Position>,
    items: &[CourseListItem],
    rule: &str,
) {
    let page = page(fixture, account, limit, after).await;
    assert_eq!(page.items, items, "{rule}");
    assert_eq!(page.next, None, "The last page has no next page.");
}

/// Asserts that the account's list contains exactly `courses`, and that each of them is found.
pub(crate) async fn assert_listed_and_found<'c>(
    fixture: &impl CourseFixture,
    account: &str,
    courses: impl IntoIterator<Item = &'c Course> + Clone,
    rule: &str,
) {
    assert_listed(fixture, account, courses.clone(), rule).await;
    for course in courses {
        assert_found(fixture, course, rule).await;
    }
}

/// Asserts that the course is found by its account and its slug.
pub(crate) async fn assert_found(fixture: &impl CourseFixture, course: &Course, rule: &str) {
    let found = find(fixture, course.account.as_str(), &course.slug).await;
    assert_eq!(found, Some(detail_of(fixture, course)), "{rule}");
}
