//! How cases read, and what they ought to be told.

use std::ops::ControlFlow;

use catalogue_core::{
    AdminStorage, Course, CourseDetail, CourseListItem, CourseStorage, Limit, Module, Page, PageRequest, Position,
    Record,
};

use crate::seed::id;

/// One page of a list.
pub(crate) async fn page(
    storage: &impl CourseStorage,
    account: &str,
    limit: u8,
    after: Option<Position>,
) -> Page<CourseListItem> {
    let limit = Limit::new(limit).expect("a case keeps to 1 to 100");
    let page = storage.list_courses(&id(account), &PageRequest { limit, after: after.clone() }).await;
    let page = page.expect("a list can be read");
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
pub(crate) async fn pages(storage: &impl CourseStorage, account: &str, limit: u8) -> Vec<Page<CourseListItem>> {
    let mut pages = vec![page(storage, account, limit, None).await];
    while let Some(next) = pages.last().and_then(|page| page.next.clone()) {
        pages.push(page(storage, account, limit, Some(next)).await);
    }
    pages
}

/// The whole list.
pub(crate) async fn list(storage: &impl CourseStorage, account: &str) -> Vec<CourseListItem> {
    pages(storage, account, 100).await.into_iter().flat_map(|page| page.items).collect()
}

/// The slugs of the whole list.
pub(crate) async fn slugs(storage: &impl CourseStorage, account: &str) -> Vec<String> {
    list(storage, account).await.into_iter().map(|item| item.slug).collect()
}

/// One course.
pub(crate) async fn find(storage: &impl CourseStorage, account: &str, slug: &str) -> Option<CourseDetail> {
    storage.find_course(&id(account), slug).await.expect("a course can be read")
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

/// Where a course stands in its account's list.
pub(crate) fn place(course: &Course) -> Position {
    Position { created_at: course.created_at, slug: course.slug.clone() }
}

/// How a list shows a course.
pub(crate) fn item_of(course: &Course) -> CourseListItem {
    CourseListItem {
        slug: course.slug.clone(),
        title: course.title.clone(),
        language: course.language.clone(),
        published_at: course.published_at,
        hidden: course.hidden,
        module_count: u32::try_from(course.modules.len()).expect("a case has few modules"),
    }
}

/// How a course is shown by itself.
pub(crate) fn detail_of(course: &Course) -> CourseDetail {
    let headers = (1..).zip(&course.modules);
    CourseDetail {
        slug: course.slug.clone(),
        title: course.title.clone(),
        tagline: course.tagline.clone(),
        language: course.language.clone(),
        published_at: course.published_at,
        hidden: course.hidden,
        access_mode: course.access_mode.clone(),
        modules: headers
            .map(|(number, module)| Module { number, title: module.title.clone(), summary: module.summary.clone() })
            .collect(),
    }
}

/// How a list shows those courses of one account: newest first, ties by slug, descending, byte by byte.
pub(crate) fn listed(courses: &[Course]) -> Vec<CourseListItem> {
    let mut courses: Vec<_> = courses.iter().collect();
    courses.sort_by_key(|course| std::cmp::Reverse(place(course)));
    courses.into_iter().map(item_of).collect()
}
