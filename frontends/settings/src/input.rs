//! Validates the fields of requests.

use std::borrow::Cow;
use std::time::Duration;

use catalogue_core::Timestamp;
use catalogue_core::auth::{Scope, Scopes};
use catalogue_core::text::is_hidden;
use serde::Serialize;

/// Maximum length of a name in characters.
pub(crate) const MAX_NAME: usize = 100;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lifetimes to choose from, in days; the default is [`DEFAULT_EXPIRY`].
pub(crate) const LIFETIMES: [(&str, u32); 4] = [("7d", 7), ("30d", 30), ("90d", 90), ("365d", 365)];

pub(crate) const DEFAULT_EXPIRY: &str = "90d";

/// Overlaps of a rotation to choose from, in seconds and in words; the default is [`DEFAULT_OVERLAP`].
pub(crate) const OVERLAPS: [(&str, u64, &str); 4] = [
    ("0", 0, "immediately (if it has leaked)"),
    ("1h", 60 * 60, "after 1 hour"),
    ("24h", 24 * 60 * 60, "after 24 hours"),
    ("7d", 7 * 24 * 60 * 60, "after 7 days"),
];

pub(crate) const DEFAULT_OVERLAP: &str = "24h";

/// An invalid field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) parameter: Cow<'static, str>,
    pub(crate) reason: Reason,
}

/// Why a field is invalid, as in a JSON response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Missing,
    Repeated,
    Empty,
    TooLong,
    Character,
    UnknownScope,
    InThePast,
    NotATime,
    OutOfRange,
    Unknown,
}

impl Reason {
    const fn sentence(self) -> &'static str {
        match self {
            Self::Missing => "This field is required.",
            Self::Repeated => "This field was sent twice. Send it once.",
            Self::Empty => "Fill in this field.",
            Self::TooLong => "Use at most 100 characters.",
            Self::Character => "This field has a character that cannot be displayed. Use plain text.",
            Self::UnknownScope => "Unknown scope. Choose from those listed.",
            Self::InThePast => "That time has passed. Choose a later one.",
            Self::NotATime => "Use a date like 2027-02-20.",
            Self::OutOfRange => "Choose one of the offered values.",
            Self::Unknown => "Unknown field or wrong type.",
        }
    }

    pub(crate) fn of(self, parameter: impl Into<Cow<'static, str>>) -> FieldError {
        FieldError { parameter: parameter.into(), reason: self }
    }
}

impl FieldError {
    /// Returns how to fix the field.
    pub(crate) fn sentence(&self) -> &'static str {
        match (&*self.parameter, self.reason) {
            ("name", Reason::Empty) => "Give the key a name.",
            ("date", Reason::Empty) => "Choose a date.",
            ("scope" | "scopes", Reason::Empty) => "Choose at least one.",
            ("code", Reason::Repeated) => "The sign-in code was sent twice. Send it once.",
            ("token", Reason::Repeated) => "The key was sent twice. Send it once.",
            ("expiresAt", Reason::NotATime) => "Use a time like 2027-02-20T00:00:00Z, or null.",
            ("date", Reason::OutOfRange) => "That date is too far ahead. Choose an earlier one.",
            ("overlapSeconds", Reason::OutOfRange) => "Use whole seconds from 0 to 2592000.",
            ("body", Reason::Unknown) => "Send one JSON object with only the properties of this request.",
            ("nonce", _) => "This form has expired or was changed. Here is a new one: send it again.",
            (_, reason) => reason.sentence(),
        }
    }
}

/// Validated values of a new key.
#[derive(Clone, Debug)]
pub(crate) struct NewKey {
    pub(crate) name: String,
    pub(crate) scopes: Scopes,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Returns a name as it is stored: trimmed, with at least one visible character and without forbidden ones.
pub(crate) fn name(text: &str) -> Result<String, FieldError> {
    let text = text.trim();
    // Characters that change the writing direction could make names look alike; U+FFFD stands for bytes that are not UTF-8.
    let is_forbidden =
        |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffd}');
    let reason = match text.chars().count() {
        0 => Reason::Empty,
        _ if text.contains(is_forbidden) || text.chars().all(is_invisible) => Reason::Character,
        1..=MAX_NAME => return Ok(text.to_owned()),
        _ => Reason::TooLong,
    };
    Err(reason.of("name"))
}

/// Returns `true` if `c` is invisible, such as the empty Braille pattern. A name needs at least one visible character.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || c == '\u{2800}' || is_hidden(c)
}

/// Returns the scopes, of which there must be at least one, all defined by the contract.
pub(crate) fn scopes<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Scopes, Reason> {
    let known =
        |name: &str| Scope::DEFINED.iter().find(|(scope, _)| scope.name() == name).map(|(scope, _)| scope.clone());
    let scopes: Option<Scopes> = names.into_iter().map(known).collect::<Option<Vec<_>>>().map(Scopes::from_iter);
    match scopes {
        None => Err(Reason::UnknownScope),
        Some(scopes) if scopes.is_empty() => Err(Reason::Empty),
        Some(scopes) => Ok(scopes),
    }
}

/// Returns when a key that is created at `now` expires, or `None` if `choice` is "never".
pub(crate) fn expiry(choice: &str, date: &str, now: Timestamp) -> Result<Option<Timestamp>, Reason> {
    let end = match choice {
        "never" => return Ok(None),
        "date" => end_of_day(date)?,
        choice => {
            let (_, days) = LIFETIMES.iter().find(|(name, _)| *name == choice).ok_or(Reason::OutOfRange)?;
            now.checked_add(DAY * *days).ok_or(Reason::OutOfRange)?
        }
    };
    in_future(end, now).map(Some)
}

pub(crate) fn in_future(end: Timestamp, now: Timestamp) -> Result<Timestamp, Reason> {
    if end > now { Ok(end) } else { Err(Reason::InThePast) }
}

/// Returns the first instant after the day that `date` names.
fn end_of_day(date: &str) -> Result<Timestamp, Reason> {
    let date = date.trim();
    if date.is_empty() {
        return Err(Reason::Empty);
    }
    if date.len() != "2027-02-20".len() {
        return Err(Reason::NotATime);
    }
    let start = Timestamp::parse(&format!("{date}T00:00:00Z")).map_err(|_| Reason::NotATime)?;
    start.checked_add(DAY).ok_or(Reason::OutOfRange)
}

/// Returns how long the old key remains valid.
pub(crate) fn overlap(choice: &str) -> Result<Duration, FieldError> {
    let overlap = OVERLAPS.iter().find(|(name, ..)| *name == choice);
    overlap.map(|(_, seconds, _)| Duration::from_secs(*seconds)).ok_or_else(|| Reason::OutOfRange.of("overlap"))
}
