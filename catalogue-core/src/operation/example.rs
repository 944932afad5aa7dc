//! Example data for the documents: one account with a few courses, so that all examples belong together.

use crate::model::{AccountId, CourseDetail, CourseListItem, Identity, Module, Scope};
use crate::storage::Position;
use crate::timestamp::Timestamp;

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("examples have valid times")
}

pub(super) fn identity() -> Identity {
    let scopes = Scope::DEFINED.iter().map(|(scope, _)| scope.clone()).collect();
    Identity::api_key(AccountId::new("acc_example"), "key_019b7c3e5f7a7c1d8e2f3a4b5c6d7e8f", scopes)
}

pub(super) fn course() -> CourseDetail {
    let module = |number, title: &str, summary: &str| Module { number, title: title.into(), summary: summary.into() };
    CourseDetail {
        slug: "bread-for-beginners".to_owned(),
        title: "Bread for beginners".to_owned(),
        tagline: "From flour and water to your first loaf.".to_owned(),
        language: "en".to_owned(),
        published_at: Some(time("2026-01-09T08:00:00Z")),
        hidden: false,
        access_mode: Some("free".to_owned()),
        modules: vec![
            module(1, "Flour, water, salt", "What goes into a dough, and why."),
            module(2, "The first loaf", "Mixing, waiting, baking."),
        ],
    }
}

/// Returns the courses of a full page that has a next page.
pub(super) fn course_items() -> [CourseListItem; 2] {
    let draft = CourseListItem {
        slug: "rye-and-sourdough".to_owned(),
        title: "Rye and sourdough".to_owned(),
        language: "en".to_owned(),
        published_at: None,
        hidden: true,
        module_count: 0,
    };
    let course = course();
    let published = CourseListItem {
        module_count: course.modules.len().try_into().expect("examples are short"),
        slug: course.slug,
        title: course.title,
        language: course.language,
        published_at: course.published_at,
        hidden: course.hidden,
    };
    [draft, published]
}

/// Returns where the page after [`course_items`] starts.
pub(super) fn next_position() -> Position {
    Position { created_at: time("2026-01-02T03:04:05Z"), slug: course().slug }
}
