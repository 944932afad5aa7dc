//! `GET /courses/{slug}`: one of the caller's own courses, with module headers (section 4.3).

use percent_encoding::percent_decode_str;

use super::body::{Reply, Success};
use super::parameter::Parameter;
use super::{Authorized, Spec, Tag, example};
use crate::error::ApiError;
use crate::model::{CourseDetail, MAX_SLUG_BYTES, Scope, is_slug};
use crate::mount_url::has_invalid_escape;
use crate::storage::CourseStorage;

pub(super) static SPEC: Spec = Spec {
    id: "getCourse",
    path: "/courses/{slug}",
    summary: "Read one of your courses",
    description: "Returns one of the account's courses with its module headers.",
    scope: Some(Scope::ReadCourses),
    parameters: &[Parameter::Slug],
    may_be_absent: true,
    tag: Tag::COURSES,
    schema: |generator| generator.subschema_for::<Success<'static, CourseDetail>>(),
    example: || Reply::of(&example::course()),
};

/// Decodes the slug in a path segment, once, as UTF-8 (decision R6). Returns `None` if no course can have it.
pub(super) fn parse_slug(segment: &str) -> Option<String> {
    // Longer than any slug, even with every byte escaped.
    if segment.len() > 3 * MAX_SLUG_BYTES || has_invalid_escape(segment) {
        return None;
    }
    let slug = percent_decode_str(segment).decode_utf8().ok()?;
    is_slug(&slug).then(|| slug.into_owned())
}

pub(super) async fn run(
    courses: &dyn CourseStorage,
    caller: &Authorized<'_>,
    slug: Option<&str>,
) -> Result<Reply, ApiError> {
    let slug = slug.ok_or(ApiError::NotFound)?;
    let read = courses.find_course(caller.account(), slug).await?;
    let course = read.value.ok_or(ApiError::NotFound)?;
    Ok(Reply { revision: read.revision, ..Reply::of(&course) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_segment_is_decoded_once() {
        for (segment, slug) in [
            ("plain", Some("plain")),
            ("using-%F0%9F%A4%97-transformers", Some("using-🤗-transformers")),
            ("%66oundations", Some("foundations")),
            ("100%2525", Some("100%25")),
            ("using-%f0%9f%a4%97-%74ransformers", Some("using-🤗-transformers")),
            ("a+b%20c", Some("a+b c")),
            ("a%2Fb", None),
            ("a%2", None),
            ("a%", None),
            ("a%zz", None),
            ("%FF", None),
            ("%00", None),
            ("%C3", None),
        ] {
            assert_eq!(parse_slug(segment).as_deref(), slug, "{segment}");
        }
        assert_eq!(parse_slug(&"%78".repeat(MAX_SLUG_BYTES)), Some("x".repeat(MAX_SLUG_BYTES)));
    }
}
