//! A course, and all changes that can be made to it.

use catalogue_core::{Course, CourseModule};

use crate::CourseFixture;
use crate::reading::as_stored;
use crate::seed::{course, module, modules, time};

/// Returns changed versions of a course that has three modules, except those that the fixture's tables cannot distinguish from
/// it.
pub(crate) fn variants(fixture: &impl CourseFixture, course: &Course) -> Vec<(&'static str, Course)> {
    // A new field needs a variant below.
    let Course {
        account: _,
        slug: _,
        title: _,
        tagline: _,
        language: _,
        created_at: _,
        published_at: _,
        hidden: _,
        access_mode: _,
        modules: _,
    } = course;
    let with_modules = |change: &dyn Fn(&mut Vec<CourseModule>)| {
        let mut changed = course.clone();
        change(&mut changed.modules);
        changed
    };
    let access_mode = |mode: Option<&str>| Course { access_mode: mode.map(str::to_owned), ..course.clone() };
    let published_at = |published_at| Course { published_at, ..course.clone() };
    let mut variants = vec![
        ("the title", Course { title: format!("{}.", course.title), ..course.clone() }),
        ("the title's case", Course { title: course.title.to_uppercase(), ..course.clone() }),
        ("a space after the title", Course { title: format!("{} ", course.title), ..course.clone() }),
        ("the tagline", Course { tagline: "Another".to_owned(), ..course.clone() }),
        ("the language", Course { language: "EN".to_owned(), ..course.clone() }),
        ("the creation time", Course { created_at: time(1_000_000), ..course.clone() }),
        ("the creation time, by a microsecond", Course { created_at: time(1), ..course.clone() }),
        ("the publish time", published_at(Some(time(100)))),
        ("the publish time, to none", published_at(None)),
        ("the hidden flag", Course { hidden: !course.hidden, ..course.clone() }),
        ("the access mode", access_mode(Some("paid"))),
        ("the access mode, to an empty one", access_mode(Some(""))),
        ("the access mode, to none", access_mode(None)),
        ("the title of one module", with_modules(&|modules| modules[1].title.push('!'))),
        ("the summary of one module", with_modules(&|modules| modules[2].summary.clear())),
        ("the body of one module", with_modules(&|modules| modules[0].content.push(' '))),
        ("the order of the modules", with_modules(&|modules| modules.swap(0, 2))),
        ("the number of modules, by one more", with_modules(&|modules| modules.push(module("More")))),
        ("the number of modules, by one less", with_modules(&|modules| modules.truncate(2))),
        ("the number of modules, to none", with_modules(&Vec::clear)),
    ];
    variants.retain(|(_, variant)| as_stored(fixture, variant) != as_stored(fixture, course));
    variants
}

/// Returns a course that every variant changes.
pub(crate) fn whole_course(account: &str, slug: &str) -> Course {
    Course {
        title: "A title".to_owned(),
        tagline: "A tagline".to_owned(),
        published_at: Some(time(99)),
        access_mode: Some("free".to_owned()),
        modules: modules(3),
        ..course(account, slug)
    }
}
