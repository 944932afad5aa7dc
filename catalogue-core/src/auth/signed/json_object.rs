//! [`JsonObject`]: a JSON object in a token or in a response about one. A member that is read must occur only once; other
//! members may be anything (decision O9).

use std::fmt;

use bytes::Bytes;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object: its members in order, with unparsed values. Values may be nested to any depth and be numbers of any size;
/// strings and names may have unpaired surrogates.
#[derive(Debug)]
pub(in crate::auth) struct JsonObject(Vec<(Bytes, Box<RawValue>)>);

/// Error: a member occurs twice, has the wrong type or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) struct Malformed;

impl JsonObject {
    /// Parses an object, or returns `None` if `json` is anything else. Values are parsed when they are read.
    pub(in crate::auth) fn parse(json: &[u8]) -> Option<Self> {
        let json = str::from_utf8(json).ok()?;
        // Validate first: names are read as bytes, which accepts control characters that JSON forbids in strings.
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        serde_json::Deserializer::from_str(json).deserialize_map(MemberVisitor).ok()
    }

    /// Returns whether there is a member `name`, even a malformed one.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(member, _)| member == name)
    }

    /// Returns the member `name`. Null and an empty list count as absent, because serializers write them for absent values.
    pub(in crate::auth) fn get(&self, name: &str) -> Result<Option<Value>, Malformed> {
        let mut matches = self.0.iter().filter(|(member, _)| member == name);
        let Some((_, value)) = matches.next() else { return Ok(None) };
        if matches.next().is_some() {
            return Err(Malformed);
        }
        let value: Value = serde_json::from_str(value.get()).map_err(|_| Malformed)?;
        Ok(Some(value).filter(|value| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty)))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Malformed> {
        self.get(name)?.map(|value| if let Value::String(text) = value { Ok(text) } else { Err(Malformed) }).transpose()
    }

    /// Returns whether the value of any member that occurs once is `text`.
    pub(super) fn has_text_value(&self, text: &str) -> bool {
        let mut names = self.0.iter().filter_map(|(name, _)| str::from_utf8(name).ok());
        names.any(|name| self.text(name).is_ok_and(|value| value.as_deref() == Some(text)))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Malformed> {
        self.get(name)?.map(|value| value.as_f64().filter(|number| number.is_finite()).ok_or(Malformed)).transpose()
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = JsonObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonObject(members))
    }
}
