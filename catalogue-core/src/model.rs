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
    let has_bad = || slug.chars().any(|c| c == '/' || c.is_control());
    !slug.is_empty() && slug.len() <= MAX_SLUG_BYTES && (is_plain(slug.as_bytes()) || !has_bad())
}

/// Whether a slug is of the characters of ASCII that may stand in one, as most are. Eight bytes are looked at at once, some of the
/// last eight twice.
fn is_plain(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The high bit of a byte beyond ASCII, below a blank, of a delete and of a `/`; where one is, the bytes after it do not matter.
    let bad = |word: u64| {
        let slash = word ^ (ONES * u64::from(b'/'));
        word | word.wrapping_sub(ONES * 0x20) | word.wrapping_add(ONES) | slash.wrapping_sub(ONES)
    };
    let found = match bytes.last_chunk() {
        Some(last) => {
            let words = bytes.as_chunks().0.iter();
            words.fold(bad(u64::from_le_bytes(*last)), |found, word| found | bad(u64::from_le_bytes(*word)))
        }
        None => bytes.iter().fold(0, |found, byte| found | bad(ONES * u64::from(*byte))),
    };
    found & (ONES << 7) == 0
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

    #[test]
    fn each_byte_of_a_slug_is_looked_at() {
        for (length, character) in
            (1..27).flat_map(|length| ('\0'..='\u{a1}').map(move |character| (length, character)))
        {
            let is_good = character != '/' && !character.is_control();
            for place in 0..length {
                let slug: String = (0..length).map(|at| if at == place { character } else { '~' }).collect();
                assert_eq!(is_slug(&slug), is_good, "{slug:?}");
            }
        }
    }
}
