//! Courses: as the API shows them (section 2), and as a storage holds them.
//!
//! No serialized type has a field for a module's body, so no body can reach a response. Serialized types have exactly the
//! fields of section 2 (decision A20), so host applications can use struct literals. A new field is a breaking change.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::AccountId;
use crate::timestamp::Timestamp;

/// Maximum length of a slug in bytes of UTF-8.
pub const MAX_SLUG_BYTES: usize = 200;

/// Returns whether `slug` can name a course: 1 to [`MAX_SLUG_BYTES`] bytes, no `/`, no control character.
///
/// A path with any other text gets a 404 without a search for a course. `.` and `..` are slugs by this rule, but
/// browsers, curl and most libraries resolve them as dot segments, even as `%2e`, so they cannot request the course.
#[must_use]
pub fn is_slug(slug: &str) -> bool {
    (1..=MAX_SLUG_BYTES).contains(&slug.len()) && !slug.chars().any(|c| c == '/' || c.is_control())
}

/// One course in the list of `GET /courses` (section 2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CourseListItem {
    /// Course identifier used in the path.
    pub slug: String,
    /// The course's title.
    pub title: String,
    /// The language that the course is written in.
    pub language: String,
    /// ISO 8601 publish timestamp; null if unpublished.
    pub published_at: Option<Timestamp>,
    /// Whether the course's owner hides it from clients.
    pub hidden: bool,
    /// Number of modules of the course.
    pub module_count: u32,
}

/// One course with its module headers, as `GET /courses/{slug}` returns it (section 2.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CourseDetail {
    /// Course identifier used in the path.
    pub slug: String,
    /// The course's title.
    pub title: String,
    /// Description of the course in one line; may be empty.
    pub tagline: String,
    /// The language that the course is written in.
    pub language: String,
    /// ISO 8601 publish timestamp; null if unpublished.
    pub published_at: Option<Timestamp>,
    /// Whether the course's owner hides it from clients.
    pub hidden: bool,
    /// Course access mode; null if unset. The allowed values are not enumerated.
    pub access_mode: Option<String>,
    /// Module headers only, in order.
    pub modules: Vec<Module>,
}

/// The header of one module (section 2.4). Its body is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Module {
    /// 1-based index of the module within the course.
    #[schemars(range(min = 1))]
    pub number: u32,
    /// The module's title.
    pub title: String,
    /// A summary of the module; may be empty.
    pub summary: String,
}

/// A course with everything that a storage holds of it, including its modules' bodies. It cannot be serialized, so it
/// cannot reach a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Course {
    /// Account that owns the course.
    pub account: AccountId,
    /// The course's slug, unique within its account.
    pub slug: String,
    /// The course's title.
    pub title: String,
    /// Description of the course in one line; may be empty.
    pub tagline: String,
    /// The language that the course is written in.
    pub language: String,
    /// Creation time; the list is ordered by it.
    pub created_at: Timestamp,
    /// Publish time; `None` if unpublished.
    pub published_at: Option<Timestamp>,
    /// Whether the course's owner hides it from clients.
    pub hidden: bool,
    /// The course's access mode, if set.
    pub access_mode: Option<String>,
    /// The modules in order; the first is number 1.
    pub modules: Vec<CourseModule>,
}

/// A module with its body, which `Debug` omits.
#[derive(Clone, PartialEq, Eq)]
pub struct CourseModule {
    /// The module's title.
    pub title: String,
    /// A summary; may be empty.
    pub summary: String,
    /// The body; may be empty. No operation of the API reads it.
    pub content: String,
}

impl fmt::Debug for CourseModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CourseModule")
            .field("title", &self.title)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_length_is_limited_in_bytes() {
        assert!(is_slug("a") && is_slug(&"a".repeat(200)) && is_slug("using-🤗-transformers"));
        assert!(is_slug(&"é".repeat(100)) && !is_slug(&"é".repeat(101)));
        for bad in ["", "a/b", "a\nb", "a\u{85}b", "\0"] {
            assert!(!is_slug(bad), "{bad:?}");
        }
    }
}
