//! What the API can do: one row of a table each, which drives the router, the scope gate and every document.
//!
//! A new endpoint adds a variant, its row, a file with its parameters and work, and its tests.

mod course;
mod courses;
mod example;
mod me;
mod openapi;
mod parameter;

pub(crate) use course::has_bad_escape;
pub(crate) use parameter::{InvalidParameter, Parameter};

use schemars::{Schema, SchemaGenerator};

use crate::auth::{Authorized, Identity, Scope};
use crate::error::ApiError;
use crate::model::CourseDetail;
use crate::storage::{AtRevision, CourseStorage};
use courses::{CourseList, CoursesRequest};

/// One operation of section 4. All are GET, take no body and need a bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// `GET /me` (section 4.1).
    GetMe,
    /// `GET /courses` (section 4.2).
    ListCourses,
    /// `GET /courses/{slug}` (section 4.3).
    GetCourse,
    /// `GET /openapi.json` (section 4.4).
    GetOpenApi,
}

/// What router, gate and documents know of an operation.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) operation: Operation,
    /// The operation's name in documents and logs.
    pub(crate) id: &'static str,
    /// Relative to the base address; one `{parameter}` at most, as the last segment.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// The scope that the operation declares (section 5.5); none beyond a valid credential if `None`.
    pub(crate) scope: Option<Scope>,
    pub(crate) parameters: &'static [Parameter],
    /// Whether the resource may be absent, which is answered 404.
    pub(crate) may_be_absent: bool,
    /// The group that documents show it in.
    pub(crate) tag: Tag,
    /// The schema of its answer.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// An answer for the documents, rendered as every answer is.
    pub(crate) example: fn() -> Reply,
}

/// A group of operations in the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Identity,
    Courses,
    Description,
}

impl Tag {
    /// Every group, by alphabet.
    pub(crate) const ALL: [Self; 3] = [Self::Courses, Self::Description, Self::Identity];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Courses => "Courses",
            Self::Description => "Description",
        }
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Identity => "The credential that a request carries.",
            Self::Courses => "The caller's own courses and their module headers.",
            Self::Description => "The description of this API.",
        }
    }
}

static TABLE: [Row; 4] = [me::ROW, courses::ROW, course::ROW, openapi::ROW];

/// An operation with its parameters parsed, ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Request {
    Me,
    Courses(CoursesRequest),
    /// `None` where the path's text can name no course.
    Course(Option<String>),
    OpenApi,
}

/// What an operation answers with.
#[derive(Debug)]
pub(crate) enum Reply {
    Me(Identity),
    Courses(CourseList),
    Course(CourseDetail),
    OpenApi,
}

impl Operation {
    /// Every operation, in the order of section 4.
    pub const ALL: &'static [Self] = &Self::EVERY;

    /// The same, where their number counts.
    pub(crate) const EVERY: [Self; 4] = [Self::GetMe, Self::ListCourses, Self::GetCourse, Self::GetOpenApi];

    /// The operation's name in documents and logs, such as `listCourses`.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// The operation's path below the base address, as in the documents, such as `/courses/{slug}`.
    #[must_use]
    pub fn path(self) -> &'static str {
        self.row().path
    }

    pub(crate) fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The operation at `path` below the base address, with its path parameter as it stands there (or nothing).
    pub(crate) fn at(path: &str) -> Option<(Self, &str)> {
        TABLE.iter().find_map(|row| Some((row.operation, match_path(row.path, path)?)))
    }

    /// Reads the parameters (decision R2: the first fault answers, limit before cursor).
    pub(crate) fn parse(self, caller: &Authorized, segment: &str, query: Option<&str>) -> Result<Request, ApiError> {
        Ok(match self {
            Self::GetMe => Request::Me,
            Self::ListCourses => Request::Courses(CoursesRequest::parse(caller, query)?),
            Self::GetCourse => Request::Course(course::parse_slug(segment)),
            Self::GetOpenApi => Request::OpenApi,
        })
    }
}

impl Request {
    /// Whether the answer depends on the account's courses.
    pub(crate) const fn reads_courses(&self) -> bool {
        match self {
            Self::Courses(_) | Self::Course(_) => true,
            Self::Me | Self::OpenApi => false,
        }
    }

    /// How many bytes its texts take up.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Courses(request) => request.weight(),
            Self::Course(slug) => slug.as_ref().map_or(0, String::len),
            Self::Me | Self::OpenApi => 0,
        }
    }

    /// Does the work, for a caller who passed the gate; a reply made of courses comes with their revision.
    pub(crate) async fn run(
        self,
        courses: &dyn CourseStorage,
        caller: &Authorized,
    ) -> Result<AtRevision<Reply>, ApiError> {
        match self {
            Self::Me => Ok(AtRevision { value: me::run(caller), revision: None }),
            Self::Courses(request) => courses::run(courses, caller, request).await,
            Self::Course(slug) => course::run(courses, caller, slug.as_deref()).await,
            Self::OpenApi => Ok(AtRevision { value: Reply::OpenApi, revision: None }),
        }
    }
}

/// Matches a template whose last segment may be a `{parameter}`: one segment, not empty, taken as it stands.
fn match_path<'r>(template: &str, path: &'r str) -> Option<&'r str> {
    match template.split_once('{') {
        None => (template == path).then_some(""),
        Some((prefix, _)) => path.strip_prefix(prefix).filter(|segment| !segment.is_empty() && !segment.contains('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_stands_at_its_operation() {
        for operation in Operation::EVERY {
            assert_eq!(operation.row().operation, operation);
        }
    }

    #[test]
    fn paths_match_whole() {
        assert_eq!(Operation::at("/me"), Some((Operation::GetMe, "")));
        assert_eq!(Operation::at("/courses"), Some((Operation::ListCourses, "")));
        assert_eq!(Operation::at("/courses/a%2Fb"), Some((Operation::GetCourse, "a%2Fb")));
        for path in ["", "/", "/me/", "/courses/", "/courses//", "/courses/a/", "/courses/a/b", "//me", "/Me", "me"] {
            assert_eq!(Operation::at(path), None, "{path}");
        }
    }
}
