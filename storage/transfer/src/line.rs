//! [`Line`]: a line of the import format, read and written.

use std::borrow::Cow;

use catalogue_core::admin::{Account, Record};
use catalogue_core::{AccountId, Course, CourseModule, MAX_SLUG_BYTES, Timestamp, is_slug};
use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::line_error::{field_error, parser_error};
use crate::object::Object;

/// Maximum length of an account's id, in bytes of UTF-8.
const MAX_ID_BYTES: usize = 200;

/// Content of a line.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Line {
    Account(AccountLine),
    Course(Box<CourseLine>),
}

#[derive(Deserialize)]
struct Kind<'l> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'l, str>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountLine {
    #[serde(rename = "type", skip_serializing)]
    _kind: IgnoredAny,
    #[serde(deserialize_with = "id")]
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) email: String,
}

/// Content of a course's line. The creation time may be missing.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CourseLine {
    #[serde(rename = "type", skip_serializing)]
    _kind: IgnoredAny,
    #[serde(deserialize_with = "id")]
    pub(crate) account: String,
    #[serde(deserialize_with = "slug")]
    pub(crate) slug: String,
    title: String,
    #[serde(default)]
    tagline: String,
    language: String,
    /// May be missing but, unlike `published_at`, not null.
    #[serde(default, deserialize_with = "time", serialize_with = "exact_string")]
    pub(crate) created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "time_or_null", serialize_with = "exact_string")]
    published_at: Option<Timestamp>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    access_mode: Option<String>,
    #[serde(default)]
    modules: Vec<Object<ModuleLine>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ModuleLine {
    title: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    content: String,
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() || text.len() > MAX_ID_BYTES || text.chars().any(char::is_control) {
        let message = format!("invalid id {text:?}; use 1 to {MAX_ID_BYTES} bytes without control characters");
        return Err(D::Error::custom(message));
    }
    Ok(text)
}

fn slug<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if !is_slug(&text) {
        let hint = format!("use 1 to {MAX_SLUG_BYTES} bytes without / and control characters");
        return Err(D::Error::custom(format!("invalid slug {text:?}; {hint}")));
    }
    Ok(text)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    parsed(Some(String::deserialize(deserializer)?))
}

fn time_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    parsed(Option::deserialize(deserializer)?)
}

fn parsed<E: serde::de::Error>(text: Option<String>) -> Result<Option<Timestamp>, E> {
    let parse = |text: String| Timestamp::parse(&text).map_err(|error| E::custom(format!("{text:?} is {error}")));
    text.map(parse).transpose()
}

fn exact_string<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(Timestamp::to_exact_string).serialize(serializer)
}

/// Returns the text of a line. Detects the output of editors and shells that do not write plain UTF-8.
fn text_of(line: &[u8]) -> Result<&str, String> {
    const HINT: &str = "save the file as UTF-8, one object per line";
    if line.starts_with(b"\xef\xbb\xbf") {
        return Err("starts with a byte order mark; save it as UTF-8 without one".to_owned());
    }
    if line.contains(&0) {
        return Err(format!("contains a NUL byte (UTF-16, or not text); {HINT}"));
    }
    str::from_utf8(line).map_err(|error| format!("invalid UTF-8 at byte {}; {HINT}", error.valid_up_to() + 1))
}

/// Parses one line, or returns what is wrong with it.
pub(crate) fn parse(line: &[u8]) -> Result<Line, String> {
    let text = text_of(line)?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err("not a JSON object; use one object per line".to_owned());
    }
    match &*read::<Kind<'_>>(text)?.kind {
        "account" => read(text).map(Line::Account),
        "course" => read(text).map(Line::Course),
        other => Err(field_error("type", &format!("invalid type {other:?}; use \"account\" or \"course\""))),
    }
}

fn read<'l, T: Deserialize<'l>>(text: &'l str) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| parser_error(&error.path().to_string(), error.inner()))?;
    deserializer.end().map_err(|error| parser_error(".", &error))?;
    Ok(value)
}

impl CourseLine {
    /// Returns the course, with `created_at` as its creation time.
    pub(crate) fn into_course(self, created_at: Timestamp) -> Course {
        let module = |Object(module): Object<ModuleLine>| CourseModule {
            title: module.title,
            summary: module.summary,
            content: module.content,
        };
        Course {
            account: AccountId::new(self.account),
            slug: self.slug,
            title: self.title,
            tagline: self.tagline,
            language: self.language,
            created_at,
            published_at: self.published_at,
            hidden: self.hidden,
            access_mode: self.access_mode,
            modules: self.modules.into_iter().map(module).collect(),
        }
    }
}

impl From<Record> for Line {
    fn from(record: Record) -> Self {
        match record {
            Record::Account(Account { id, name, email }) => {
                Self::Account(AccountLine { _kind: IgnoredAny, id: id.as_str().to_owned(), name, email })
            }
            Record::Course(course) => Self::Course(Box::new(course.into())),
        }
    }
}

impl From<Course> for CourseLine {
    fn from(course: Course) -> Self {
        let module = |CourseModule { title, summary, content }| Object(ModuleLine { title, summary, content });
        Self {
            _kind: IgnoredAny,
            account: course.account.as_str().to_owned(),
            slug: course.slug,
            title: course.title,
            tagline: course.tagline,
            language: course.language,
            created_at: Some(course.created_at),
            published_at: course.published_at,
            hidden: course.hidden,
            access_mode: course.access_mode,
            modules: course.modules.into_iter().map(module).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
