//! How cases read, and what they ought to be told.

use std::ops::ControlFlow;

use catalogue_core::{
    AdminStorage, Course, CourseDetail, CourseListItem, CourseStorage, Limit, Module, Page, PageRequest, Position,
    Record, Timestamp,
};

use crate::CourseFixture;

/// One page of a list.
pub(crate) async fn page(
    fixture: &impl CourseFixture,
    account: &str,
    limit: u8,
    after: Option<Position>,
) -> Page<CourseListItem> {
    let limit = Limit::new(limit).expect("a case keeps to 1 to 100");
    let account = fixture.account(account).await;
    let page = fixture.storage().list_courses(&account, &PageRequest { limit, after: after.clone() }).await;
    let page = page.expect("A list can be read, also of an account without courses and after any place.");
    assert!(page.items.len() <= limit.get(), "A page holds at most as many courses as were asked for.");
    if let (Some(next), Some(after)) = (&page.next, after) {
        assert!(
            *next < after,
            "A next page starts further on than its page, so that a walk neither repeats courses nor goes on for ever."
        );
    }
    page
}

/// All pages, from the first to the one without `next`.
pub(crate) async fn pages(fixture: &impl CourseFixture, account: &str, limit: u8) -> Vec<Page<CourseListItem>> {
    let mut pages = vec![page(fixture, account, limit, None).await];
    while let Some(next) = pages.last().and_then(|page| page.next.clone()) {
        pages.push(page(fixture, account, limit, Some(next)).await);
    }
    pages
}

/// The whole list.
pub(crate) async fn list(fixture: &impl CourseFixture, account: &str) -> Vec<CourseListItem> {
    pages(fixture, account, 100).await.into_iter().flat_map(|page| page.items).collect()
}

/// The slugs of the whole list.
pub(crate) async fn slugs(fixture: &impl CourseFixture, account: &str) -> Vec<String> {
    list(fixture, account).await.into_iter().map(|item| item.slug).collect()
}

/// One course.
pub(crate) async fn find(fixture: &impl CourseFixture, account: &str, slug: &str) -> Option<CourseDetail> {
    let found = fixture.storage().find_course(&fixture.account(account).await, slug).await;
    found.expect("A course can be asked for; one that does not exist is None, not an error.")
}

/// Everything that an export shows.
pub(crate) async fn export(storage: &impl AdminStorage) -> Vec<Record> {
    let mut records = Vec::new();
    let mut visit = |record| {
        records.push(record);
        ControlFlow::Continue(())
    };
    storage.export(&mut visit).await.expect("an export can be made");
    records
}

/// The time that stands for `time` in the fixture's tables.
pub(crate) fn held_time(fixture: &impl CourseFixture, time: Timestamp) -> Timestamp {
    fixture.limits().times.held(time)
}

/// Where a course stands in its account's list.
pub(crate) fn place(fixture: &impl CourseFixture, course: &Course) -> Position {
    Position { created_at: held_time(fixture, course.created_at), slug: course.slug.clone() }
}

/// How a list shows a course.
pub(crate) fn item_of(fixture: &impl CourseFixture, course: &Course) -> CourseListItem {
    let course = fixture.limits().held(course);
    CourseListItem {
        slug: course.slug,
        title: course.title,
        language: course.language,
        published_at: course.published_at,
        hidden: course.hidden,
        module_count: u32::try_from(course.modules.len()).expect("a case has few modules"),
    }
}

/// How a course is shown by itself.
pub(crate) fn detail_of(fixture: &impl CourseFixture, course: &Course) -> CourseDetail {
    let course = fixture.limits().held(course);
    let headers = (1..).zip(course.modules);
    CourseDetail {
        slug: course.slug,
        title: course.title,
        tagline: course.tagline,
        language: course.language,
        published_at: course.published_at,
        hidden: course.hidden,
        access_mode: course.access_mode,
        modules: headers
            .map(|(number, module)| Module { number, title: module.title, summary: module.summary })
            .collect(),
    }
}

/// How a list shows those courses of one account: newest first, ties by slug, descending, byte by byte.
pub(crate) fn listed<'c>(
    fixture: &impl CourseFixture,
    courses: impl IntoIterator<Item = &'c Course>,
) -> Vec<CourseListItem> {
    let mut courses: Vec<_> = courses.into_iter().collect();
    courses.sort_by_key(|course| std::cmp::Reverse(place(fixture, course)));
    courses.into_iter().map(|course| item_of(fixture, course)).collect()
}
