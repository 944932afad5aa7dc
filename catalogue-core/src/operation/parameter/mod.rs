//! Parameters of the operations: their names, descriptions and schemas, and the parser of a list's query.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::example;
use crate::cursor::{CURSOR_PATTERN, MAX_CURSOR_LENGTH};
use crate::error::{self, InvalidParameter, Reason};
use crate::model::MAX_SLUG_BYTES;
use crate::storage::Limit;

/// A parameter that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// The query parameter `cursor` (decision R8).
    Cursor,
    /// The query parameter `limit` (decision R7).
    Limit,
    /// The path parameter `slug` (decision R6).
    Slug,
}

impl Parameter {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Cursor => error::CURSOR,
            Self::Limit => error::LIMIT,
            Self::Slug => "slug",
        }
    }

    /// Returns whether it is a segment of the path; else it is an optional part of the query.
    pub(crate) const fn is_in_path(self) -> bool {
        matches!(self, Self::Slug)
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Cursor => "`meta.nextCursor` of the previous page.",
            Self::Limit => "Courses per page.",
            Self::Slug => "Slug, percent-encoded as UTF-8.",
        }
    }

    /// Returns the constraints on its value, as a JSON Schema.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Cursor => {
                json!({ "type": "string", "minLength": 1, "maxLength": MAX_CURSOR_LENGTH, "pattern": CURSOR_PATTERN })
            }
            Self::Limit => {
                let [minimum, maximum, default] = [Limit::MIN, Limit::MAX, Limit::DEFAULT].map(Limit::get);
                json!({ "type": "integer", "minimum": minimum, "maximum": maximum, "default": default })
            }
            Self::Slug => json!({ "type": "string", "minLength": 1, "maxLength": MAX_SLUG_BYTES }),
        }
    }

    /// Returns a value that the documents' example responses belong to. `None` for a cursor: tools send the examples of
    /// all parameters, and a cursor belongs to one account.
    pub(crate) fn example(self) -> Option<Value> {
        match self {
            Self::Cursor => None,
            Self::Limit => Some(example::course_items().len().into()),
            Self::Slug => Some(example::course().slug.into()),
        }
    }
}

/// Query of a list; unknown parameters are ignored (decision R9).
#[derive(Debug, Default)]
pub(super) struct ListQuery<'q> {
    cursor: Once<'q>,
    limit: Once<'q>,
}

/// A parameter that may be given at most once.
#[derive(Debug, Default)]
enum Once<'q> {
    #[default]
    Absent,
    Given(Cow<'q, str>),
    Repeated,
}

impl Once<'_> {
    fn value(&self, parameter: &'static str) -> Result<Option<&str>, InvalidParameter> {
        match self {
            Self::Absent => Ok(None),
            Self::Given(text) => Ok(Some(text)),
            Self::Repeated => Err(InvalidParameter::new(parameter, Reason::Repeated)),
        }
    }
}

impl<'q> ListQuery<'q> {
    pub(super) fn parse(query: Option<&'q str>) -> Self {
        let mut list = Self::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let slot = match &*name {
                error::CURSOR => &mut list.cursor,
                error::LIMIT => &mut list.limit,
                _ => continue,
            };
            *slot = match slot {
                Once::Absent => Once::Given(value),
                Once::Given(_) | Once::Repeated => Once::Repeated,
            };
        }
        list
    }

    pub(super) fn limit(&self) -> Result<Option<Limit>, InvalidParameter> {
        self.limit.value(error::LIMIT)?.map(parse_limit).transpose()
    }

    pub(super) fn cursor(&self) -> Result<Option<&str>, InvalidParameter> {
        self.cursor.value(error::CURSOR)
    }
}

/// Parses a limit: only ASCII digits, within the bounds (decision R7).
fn parse_limit(text: &str) -> Result<Limit, InvalidParameter> {
    let invalid = |reason| InvalidParameter::new(error::LIMIT, reason);
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid(Reason::NotAnInteger));
    }
    // Digits fail to parse only if there are too many of them.
    text.parse().ok().and_then(Limit::new).ok_or(invalid(Reason::OUT_OF_RANGE))
}

#[cfg(test)]
mod tests;
