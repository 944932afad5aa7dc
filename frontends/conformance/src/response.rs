//! [`Response`]: a response that can be compared with another one.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Headers that a server may add to the catalogue's responses.
pub(crate) const SERVER_HEADERS: [&str; 4] = ["connection", "date", "keep-alive", "strict-transport-security"];

/// A response, split into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Values in order, by header name in lower case.
    pub(crate) headers: BTreeMap<String, Vec<Vec<u8>>>,
    pub(crate) body: Bytes,
}

impl From<http::Response<Bytes>> for Response {
    fn from(response: http::Response<Bytes>) -> Self {
        let (head, body) = response.into_parts();
        let mut response = Self { status: head.status.as_u16(), headers: BTreeMap::new(), body };
        for (name, value) in &head.headers {
            response.push(name.as_str(), value.as_bytes());
        }
        response
    }
}

impl Response {
    pub(crate) fn push(&mut self, name: &str, value: &[u8]) {
        self.headers.entry(name.to_ascii_lowercase()).or_default().push(value.to_owned());
    }

    /// Returns a message about the first difference between this response and the core's; `None` if they are equal.
    pub(crate) fn difference(&self, core: &Self) -> Option<String> {
        if self.status != core.status {
            return Some(format!("the status is {} and not {}", self.status, core.status));
        }
        for (name, values) in &core.headers {
            match self.headers.get(name) {
                None => return Some(format!("the header {name} is missing")),
                Some(others) if others != values => {
                    return Some(format!(
                        "the header {name} is {} and not {}",
                        format_values(others),
                        format_values(values)
                    ));
                }
                Some(_) => {}
            }
        }
        let added = |name: &&String| !core.headers.contains_key(*name) && !SERVER_HEADERS.contains(&name.as_str());
        if let Some(name) = self.headers.keys().find(added) {
            return Some(format!("the header {name} was added: {}", format_values(&self.headers[name])));
        }
        let lengths = (self.body.len(), core.body.len());
        (self.body != core.body).then(|| format!("the body differs: {} bytes, expected {}", lengths.0, lengths.1))
    }
}

fn format_values(values: &[Vec<u8>]) -> String {
    let values = values.iter().map(|value| format!("\"{}\"", value.escape_ascii()));
    values.collect::<Vec<_>>().join(" and ")
}
