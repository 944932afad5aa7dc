//! Operations of the API: one [`Spec`] each, which drives the router, the scope gate and every document. A new
//! endpoint adds a variant, a file with its `SPEC`, parameters and implementation, and its tests.

mod authorization;
pub(crate) mod body;
mod course;
mod courses;
pub(crate) mod document;
mod example;
mod me;
mod openapi;
mod parameter;

pub(crate) use authorization::Authorized;
pub(crate) use parameter::Parameter;

use schemars::{Schema, SchemaGenerator};

use crate::error::ApiError;
use crate::model::Scope;
use crate::storage::CourseStorage;
use body::Reply;
use courses::ListCall;
use document::DocumentFormat;

/// Defines the operations, the list of all of them, and the spec of each.
macro_rules! operations {
    ($($(#[$doc:meta])* $operation:ident => $spec:expr,)*) => {
        /// One operation of section 4. All are GET, take no body and need a bearer token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Operation {
            $($(#[$doc])* $operation,)*
        }

        impl Operation {
            /// Every operation, in the order of section 4. The router uses the first that matches, so a literal path must
            /// precede one whose parameter matches it.
            pub const ALL: &'static [Self] = &[$(Self::$operation),*];

            pub(crate) const fn spec(self) -> &'static Spec {
                match self {
                    $(Self::$operation => $spec,)*
                }
            }
        }
    };
}

operations! {
    /// `GET /me` (section 4.1).
    GetMe => &me::SPEC,
    /// `GET /courses` (section 4.2).
    ListCourses => &courses::SPEC,
    /// `GET /courses/{slug}` (section 4.3).
    GetCourse => &course::SPEC,
    /// `GET /openapi.json` (section 4.4).
    GetOpenApi => &openapi::SPEC,
}

/// Description of an operation for the router, the gate and the documents.
#[derive(Debug)]
pub(crate) struct Spec {
    /// The operation's name in documents and logs.
    pub(crate) id: &'static str,
    /// Relative to the base URL; at most one segment is a `{parameter}`.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// Scope that the operation declares (section 5.5); `None` if every valid credential is accepted.
    pub(crate) scope: Option<Scope>,
    pub(crate) parameters: &'static [Parameter],
    /// Whether the resource may be absent, which causes a 404.
    pub(crate) may_be_absent: bool,
    /// Group in which documents show it.
    pub(crate) tag: Tag,
    /// Schema of its response.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Example response for the documents, rendered like every response. The OpenAPI document's is only a sketch.
    pub(crate) example: fn() -> Reply,
}

/// A group of operations in the documents.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

impl Tag {
    const COURSES: Self = Self { name: "Courses", description: "The caller's own courses and their module headers." };
    const DESCRIPTION: Self = Self { name: "Description", description: "The description of this API." };
    const IDENTITY: Self = Self { name: "Identity", description: "The credential that a request carries." };

    /// All groups, in alphabetical order.
    pub(crate) const ALL: [Self; 3] = [Self::COURSES, Self::DESCRIPTION, Self::IDENTITY];
}

/// A request with its parameters parsed.
#[derive(Debug)]
pub(crate) enum ParsedOperation {
    Call(Call),
    /// A document, which is rendered only once.
    Document(DocumentFormat),
}

/// An operation with its parameters parsed, ready to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Me,
    Courses(ListCall),
    /// `None` if the path's text cannot be a slug.
    Course(Option<String>),
}

impl Operation {
    /// Returns the operation's name in documents and logs, such as `listCourses`.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.spec().id
    }

    /// Returns the operation's path below the base URL, as in the documents, such as `/courses/{slug}`.
    #[must_use]
    pub fn path(self) -> &'static str {
        self.spec().path
    }

    /// Returns the operation at `path` below the base URL, with its path parameter exactly as in `path`, or empty.
    pub(crate) fn at(path: &str) -> Option<(Self, &str)> {
        Self::ALL.iter().find_map(|&operation| Some((operation, match_path(operation.path(), path)?)))
    }

    /// Parses the parameters (decision R2: returns the first error, limit before cursor).
    pub(crate) fn parse(
        self,
        caller: &Authorized<'_>,
        segment: &str,
        query: Option<&str>,
    ) -> Result<ParsedOperation, ApiError> {
        Ok(ParsedOperation::Call(match self {
            Self::GetMe => Call::Me,
            Self::ListCourses => Call::Courses(ListCall::parse(caller, query)?),
            Self::GetCourse => Call::Course(course::parse_slug(segment)),
            Self::GetOpenApi => return Ok(ParsedOperation::Document(DocumentFormat::OpenApi)),
        }))
    }
}

impl Call {
    /// Returns the size of the call's texts in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Courses(call) => call.page.after.as_ref().map_or(0, |after| after.slug.len()),
            Self::Course(slug) => slug.as_ref().map_or(0, String::len),
            Self::Me => 0,
        }
    }

    /// Runs the operation for a caller that passed the gate.
    pub(crate) async fn run(&self, courses: &dyn CourseStorage, caller: &Authorized<'_>) -> Result<Reply, ApiError> {
        match self {
            Self::Me => Ok(me::run(caller)),
            Self::Courses(call) => courses::run(call, courses, caller).await,
            Self::Course(slug) => course::run(courses, caller, slug.as_deref()).await,
        }
    }
}

/// Matches a template with at most one `{parameter}` segment. Returns that segment of `path` as it is; it is not empty.
fn match_path<'r>(template: &str, path: &'r str) -> Option<&'r str> {
    let Some((before, parameter)) = template.split_once('{') else {
        return (template == path).then_some("");
    };
    let (_, after) = parameter.split_once('}')?;
    let segment = path.strip_prefix(before)?.strip_suffix(after)?;
    (!segment.is_empty() && !segment.contains('/')).then_some(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_id_matches_variant_name() {
        for &operation in Operation::ALL {
            let name = format!("{operation:?}");
            assert_eq!(operation.id(), name[..1].to_lowercase() + &name[1..]);
        }
    }

    #[test]
    fn paths_match_exactly() {
        for &operation in Operation::ALL {
            let found = Operation::at(operation.path()).map(|(found, _)| found);
            assert_eq!(found, Some(operation), "move {operation:?} before the operation whose path hides its path");
        }
        assert_eq!(Operation::at("/me"), Some((Operation::GetMe, "")));
        assert_eq!(Operation::at("/courses"), Some((Operation::ListCourses, "")));
        assert_eq!(Operation::at("/courses/a%2Fb"), Some((Operation::GetCourse, "a%2Fb")));
        for path in ["", "/", "/me/", "/courses/", "/courses//", "/courses/a/", "/courses/a/b", "//me", "/Me", "me"] {
            assert_eq!(Operation::at(path), None, "{path}");
        }
    }

    #[test]
    fn path_parameter_may_have_any_position() {
        for (path, segment) in [
            ("/courses/a/modules", Some("a")),
            ("/courses/a%2Fb/modules", Some("a%2Fb")),
            ("/courses/modules/modules", Some("modules")),
            ("/courses//modules", None),
            ("/courses/modules", None),
            ("/courses/a/b/modules", None),
            ("/courses/a/modules/", None),
            ("/courses/a", None),
        ] {
            assert_eq!(match_path("/courses/{slug}/modules", path), segment, "{path}");
        }
    }
}
