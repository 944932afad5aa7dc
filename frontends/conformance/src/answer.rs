//! [`Answer`]: a response that can be compared with another one.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Response;

/// Headers about the connection that a server may add to the catalogue's responses.
pub(crate) const OF_THE_SERVER: [&str; 4] = ["connection", "date", "keep-alive", "strict-transport-security"];

/// A response, split into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By name in lower case, with the values in order.
    pub(crate) headers: BTreeMap<String, Vec<Vec<u8>>>,
    pub(crate) body: Bytes,
}

impl From<Response<Bytes>> for Answer {
    fn from(response: Response<Bytes>) -> Self {
        let (head, body) = response.into_parts();
        let mut answer = Self { status: head.status.as_u16(), headers: BTreeMap::new(), body };
        for (name, value) in &head.headers {
            answer.push(name.as_str(), value.as_bytes());
        }
        answer
    }
}

impl Answer {
    pub(crate) fn push(&mut self, name: &str, value: &[u8]) {
        self.headers.entry(name.to_ascii_lowercase()).or_default().push(value.to_owned());
    }

    /// Returns how this response of a server differs from the core's, as a message; `None` if they are equal.
    pub(crate) fn difference(&self, core: &Self) -> Option<String> {
        if self.status != core.status {
            return Some(format!("the status is {} and not {}", self.status, core.status));
        }
        for (name, values) in &core.headers {
            match self.headers.get(name) {
                None => return Some(format!("the header {name} is missing")),
                Some(others) if others != values => {
                    return Some(format!("the header {name} is {} and not {}", shown(others), shown(values)));
                }
                Some(_) => {}
            }
        }
        let added = |name: &&String| !core.headers.contains_key(*name) && !OF_THE_SERVER.contains(&name.as_str());
        if let Some(name) = self.headers.keys().find(added) {
            return Some(format!("the header {name} was added: {}", shown(&self.headers[name])));
        }
        let lengths = (self.body.len(), core.body.len());
        (self.body != core.body)
            .then(|| format!("the body is another one, of {} and not {} bytes", lengths.0, lengths.1))
    }
}

fn shown(values: &[Vec<u8>]) -> String {
    let values = values.iter().map(|value| format!("\"{}\"", value.escape_ascii()));
    values.collect::<Vec<_>>().join(" and ")
}
