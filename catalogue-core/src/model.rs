//! The resources of section 2, as the API shows them.
//!
//! No type here has a field for a module's body, so none can reach an answer. The contract closes these objects, so
//! hosts build them field by field.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::timestamp::Timestamp;

/// The id of an account: whose courses a credential may read.
///
/// Any text, which the storage alone interprets. Cheap to clone.
///
/// ```
/// use catalogue_core::AccountId;
///
/// let account = AccountId::from("acc_1");
/// assert_eq!(account.as_str(), "acc_1");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(Arc<str>);

impl AccountId {
    /// An id of that text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for AccountId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for AccountId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

impl fmt::Debug for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The longest slug, in bytes of UTF-8.
pub const MAX_SLUG_BYTES: usize = 200;

/// Whether `slug` can name a course: 1 to [`MAX_SLUG_BYTES`] bytes, no `/`, no control character.
///
/// A path with any other text is answered 404 without asking the storage. `.` and `..` are slugs by this rule; but
/// browsers, curl and most libraries resolve them as dot segments, also as `%2e`, and never ask for such a course.
#[must_use]
pub fn is_slug(slug: &str) -> bool {
    let is_usual = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'/';
    // All bytes, so that several are looked at at once.
    let are_usual = slug.bytes().fold(true, |all, byte| all & is_usual(byte));
    let has_bad = || slug.chars().any(|c| c == '/' || c.is_control());
    !slug.is_empty() && slug.len() <= MAX_SLUG_BYTES && (are_usual || !has_bad())
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
    /// How many modules the course has.
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
    /// One line that says what the course is; may be empty.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_counted_in_bytes() {
        assert!(is_slug("a") && is_slug(&"a".repeat(200)) && is_slug("using-🤗-transformers"));
        assert!(is_slug(&"é".repeat(100)) && !is_slug(&"é".repeat(101)));
        for bad in ["", "a/b", "a\nb", "a\u{85}b", "\0"] {
            assert!(!is_slug(bad), "{bad:?}");
        }
    }
}
