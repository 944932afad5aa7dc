//! Courses and modules with defaults, only for the tests of this workspace. A new field of a course is added here.

use catalogue_core::admin::Account;
use catalogue_core::storage::CourseRow;
use catalogue_core::{AccountId, Course, CourseDetail, CourseModule, Module, Timestamp};

/// 2026-01-02T03:04:05Z, the default creation time of courses in tests.
pub const CREATED: i64 = 1_767_323_045_000_000;

/// Returns the time `microseconds` after [`CREATED`].
#[must_use]
pub fn time(microseconds: i64) -> Timestamp {
    instant(CREATED + microseconds)
}

/// Returns the time `microseconds` after 1970-01-01T00:00:00Z.
#[must_use]
pub fn instant(microseconds: i64) -> Timestamp {
    Timestamp::from_microseconds(microseconds).expect("a test keeps to the years 0000 to 9999")
}

/// Returns an account without name and email.
#[must_use]
pub fn account(id: &str) -> Account {
    Account { id: AccountId::new(id), name: String::new(), email: String::new() }
}

/// Returns an unpublished course without modules.
#[must_use]
pub fn course(account: &str, slug: &str) -> Course {
    Course {
        account: AccountId::new(account),
        slug: slug.to_owned(),
        title: format!("Title of {slug}"),
        tagline: String::new(),
        language: "en".to_owned(),
        created_at: time(0),
        published_at: None,
        hidden: false,
        access_mode: None,
        modules: Vec::new(),
    }
}

/// Returns a module titled `title`.
#[must_use]
pub fn module(title: &str) -> CourseModule {
    CourseModule {
        title: title.to_owned(),
        summary: format!("Summary of {title}"),
        content: format!("Content of {title}"),
    }
}

/// Returns a course as a row of a list.
#[must_use]
pub fn row(course: &Course) -> CourseRow<'_> {
    CourseRow {
        slug: &course.slug,
        title: &course.title,
        language: &course.language,
        published_at: course.published_at,
        hidden: course.hidden,
        module_count: u32::try_from(course.modules.len()).expect("a test has few modules"),
    }
}

/// Returns a course as a lookup returns it.
#[must_use]
pub fn detail(course: Course) -> CourseDetail {
    CourseDetail {
        slug: course.slug,
        title: course.title,
        tagline: course.tagline,
        language: course.language,
        published_at: course.published_at,
        hidden: course.hidden,
        access_mode: course.access_mode,
        modules: (1..)
            .zip(course.modules)
            .map(|(number, module)| Module { number, title: module.title, summary: module.summary })
            .collect(),
    }
}
