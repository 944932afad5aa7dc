//! [`Members`]: a JSON object of a token, or about one. A member that is read must not come twice, others may (decision O9).

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The members of an object, in their order, with those that come twice.
#[derive(Debug)]
pub(in crate::auth) struct Members(Vec<(String, Value)>);

/// A member comes twice or has another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) struct Faulty;

impl Members {
    /// The object that `json` is, or `None` where it is anything else.
    pub(in crate::auth) fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The member of that name, if there is one.
    pub(in crate::auth) fn get(&self, name: &str) -> Result<Option<&Value>, Faulty> {
        let mut found = self.0.iter().filter(|(member, _)| member == name).map(|(_, value)| value);
        match (found.next(), found.next()) {
            (value, None) => Ok(value),
            (_, Some(_)) => Err(Faulty),
        }
    }

    /// The member of that name, which must be a text.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Faulty> {
        self.get(name)?.map(|value| value.as_str().ok_or(Faulty)).transpose()
    }

    /// Whether a member is that text.
    pub(super) fn has_text(&self, text: &str) -> bool {
        self.0.iter().any(|(_, value)| value == text)
    }

    /// The member of that name, which must be a number.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Faulty> {
        self.get(name)?.map(|value| value.as_f64().filter(|number| number.is_finite()).ok_or(Faulty)).transpose()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Every)
    }
}

/// Collects each member.
struct Every;

impl<'de> Visitor<'de> for Every {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
