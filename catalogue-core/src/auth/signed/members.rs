//! [`Members`]: a JSON object of a token, or about one. A member that is read must not come twice, others may be anything
//! (decision O9).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// An object: its text, and the names of its members in their order.
#[derive(Debug)]
pub(in crate::auth) struct Members {
    json: String,
    names: Vec<String>,
}

/// A member comes twice, has another type or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) struct Faulty;

impl Members {
    /// The object that `json` is, or `None` if it is anything else. Values are parsed when they are read.
    pub(in crate::auth) fn parse(json: &[u8]) -> Option<Self> {
        let json = str::from_utf8(json).ok()?;
        // Bytes, as which names are read, may have control characters, and JSON may not.
        serde_json::from_str::<IgnoredAny>(json).ok()?;
        let mut names = Vec::new();
        Reader { wanted: None, names: &mut names }.read(json).ok()?;
        Some(Self { json: json.to_owned(), names })
    }

    /// Whether there is a member of that name, whatever it is.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|member| member == name)
    }

    /// The member of that name. Null and an empty list count as absent, as serializers write them for what is not there.
    pub(in crate::auth) fn get(&self, name: &str) -> Result<Option<Value>, Faulty> {
        match self.names.iter().filter(|member| *member == name).count() {
            0 => return Ok(None),
            1 => {}
            _ => return Err(Faulty),
        }
        let value = Reader { wanted: Some(name), names: &mut Vec::new() }.read(&self.json).map_err(|_| Faulty)?;
        Ok(value.filter(|value| !value.is_null() && !value.as_array().is_some_and(Vec::is_empty)))
    }

    /// The member of that name, which must be a text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Faulty> {
        match self.get(name)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Faulty),
        }
    }

    /// Whether a member that comes once is that text.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.names.iter().any(|name| self.text(name).is_ok_and(|value| value.as_deref() == Some(text)))
    }

    /// The member of that name, which must be a number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Faulty> {
        self.get(name)?.map(|value| value.as_f64().filter(|number| number.is_finite()).ok_or(Faulty)).transpose()
    }
}

/// Reads the value of one member or else the names of all, and skips the rest: values may be nested without end, be numbers
/// that have no end, or texts with half a character.
struct Reader<'r> {
    wanted: Option<&'r str>,
    names: &'r mut Vec<String>,
}

/// A name, which may have half a character too.
struct Name<'j>(Cow<'j, [u8]>);

impl Reader<'_> {
    fn read(self, json: &str) -> serde_json::Result<Option<Value>> {
        serde_json::Deserializer::from_str(json).deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Value>, A::Error> {
        let mut found = None;
        while let Some(Name(name)) = map.next_key()? {
            if self.wanted.is_some_and(|wanted| *name == *wanted.as_bytes()) {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            if self.wanted.is_none() {
                self.names.extend(String::from_utf8(name.into_owned()));
            }
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_bytes<E: Error>(self, name: &'de [u8]) -> Result<Name<'de>, E> {
                Ok(Name(name.into()))
            }

            fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<Name<'de>, E> {
                Ok(Name(name.to_owned().into()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}
