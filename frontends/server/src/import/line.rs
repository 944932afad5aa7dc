//! The import format: what one line can be.

use std::borrow::Cow;

use catalogue_core::{Account, AccountId, Course, CourseModule, MAX_SLUG_BYTES, Timestamp, is_slug};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::fault::Fault;
use super::object::Object;

/// The longest id of an account, in bytes of UTF-8.
const MAX_ID_BYTES: usize = 200;

/// What stands on a line.
#[derive(Debug)]
pub(super) enum Line {
    Account(Account),
    Course(Box<CourseLine>),
}

#[derive(Deserialize)]
struct Kind<'l> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'l, str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccountLine {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    id: Id,
    #[serde(default)]
    name: String,
    #[serde(default)]
    email: String,
}

/// A course as it is written: perhaps without its creation time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct CourseLine {
    #[serde(rename = "type")]
    _kind: IgnoredAny,
    account: Id,
    slug: Slug,
    title: String,
    #[serde(default)]
    tagline: String,
    language: String,
    #[serde(default, deserialize_with = "given")]
    created_at: Option<Time>,
    #[serde(default)]
    published_at: Option<Time>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    access_mode: Option<String>,
    #[serde(default)]
    modules: Vec<Object<ModuleLine>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModuleLine {
    title: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    content: String,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Id(AccountId);

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Slug(String);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Time(Timestamp);

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() || text.len() > MAX_ID_BYTES || text.chars().any(char::is_control) {
            return Err(format!("{text:?} is not an id; write 1 to {MAX_ID_BYTES} bytes without control characters"));
        }
        Ok(Self(AccountId::new(text)))
    }
}

impl TryFrom<String> for Slug {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if !is_slug(&text) {
            return Err(format!(
                "{text:?} is not a slug; write 1 to {MAX_SLUG_BYTES} bytes without / and control characters"
            ));
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Timestamp::parse(&text).map(Self).map_err(|error| format!("{text:?} is {error}"))
    }
}

/// A field that may be left out but, unlike other optional ones, not be null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
    Time::deserialize(deserializer).map(Some)
}

/// The text of a line. Editors and shells that do not write plain UTF-8 are told by how it begins.
fn text_of(line: &[u8]) -> Result<&str, Fault> {
    const RIGHT: &str = "save the file as UTF-8, one object a line";
    if line.starts_with(b"\xef\xbb\xbf") {
        return Err(Fault::of_line("starts with a byte order mark; save it as UTF-8 without one".to_owned()));
    }
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") || line.contains(&0) {
        return Err(Fault::of_line(format!("UTF-16, or no text at all; {RIGHT}")));
    }
    str::from_utf8(line)
        .map_err(|error| Fault::of_line(format!("not UTF-8 from byte {} on; {RIGHT}", error.valid_up_to() + 1)))
}

/// Reads one line.
pub(super) fn parse(line: &[u8]) -> Result<Line, Fault> {
    let text = text_of(line)?;
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Fault::of_line("not a JSON object; write one object a line".to_owned()));
    }
    match &*read::<Kind<'_>>(text)?.kind {
        "account" => {
            let AccountLine { id, name, email, .. } = read(text)?;
            Ok(Line::Account(Account { id: id.0, name, email }))
        }
        "course" => read(text).map(|course| Line::Course(Box::new(course))),
        other => {
            let what = format!("{other:?} is not a type of line; write \"account\" or \"course\"");
            Err(Fault::at("type", what))
        }
    }
}

fn read<'l, T: Deserialize<'l>>(text: &'l str) -> Result<T, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| Fault::explain(&error.path().to_string(), error.inner()))?;
    deserializer.end().map_err(|error| Fault::explain(".", &error))?;
    Ok(value)
}

impl CourseLine {
    pub(super) fn account(&self) -> &AccountId {
        &self.account.0
    }

    pub(super) fn slug(&self) -> &str {
        &self.slug.0
    }

    pub(super) fn created_at(&self) -> Option<Timestamp> {
        self.created_at.map(|time| time.0)
    }

    /// The course, created at that time.
    pub(super) fn into_course(self, created_at: Timestamp) -> Course {
        Course {
            account: self.account.0,
            slug: self.slug.0,
            title: self.title,
            tagline: self.tagline,
            language: self.language,
            created_at,
            published_at: self.published_at.map(|time| time.0),
            hidden: self.hidden,
            access_mode: self.access_mode,
            modules: self.modules.into_iter().map(|module| module.0.into()).collect(),
        }
    }
}

impl From<ModuleLine> for CourseModule {
    fn from(ModuleLine { title, summary, content }: ModuleLine) -> Self {
        Self { title, summary, content }
    }
}

#[cfg(test)]
mod tests;
