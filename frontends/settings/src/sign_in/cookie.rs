//! [`Cookie`]: the session's secret in a browser.

use std::time::Duration;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

#[derive(Clone, Copy, Debug)]
pub(super) struct Cookie {
    /// Sent over TLS alone.
    pub(super) is_secure: bool,
}

impl Cookie {
    /// Its prefix binds it to this host; browsers differ on whether a host without TLS may have it.
    fn name(self) -> &'static str {
        if self.is_secure { "__Host-catalogue-settings" } else { "catalogue-settings" }
    }

    /// The value that came with a request; of two none, since nobody knows which is ours.
    pub(super) fn find(self, headers: &HeaderMap) -> Option<String> {
        // HTTP/2 may send them apart, and those of other applications hold any bytes.
        let fields: Vec<_> =
            headers.get_all(COOKIE).iter().map(|field| String::from_utf8_lossy(field.as_bytes())).collect();
        let pairs = fields.iter().flat_map(|field| field.split(';'));
        // Blanks alone: what Unicode calls white space besides belongs to a name.
        let pairs = pairs.filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == self.name()).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (Some(value), None) => Some(value.to_owned()),
            _ => None,
        }
    }

    pub(super) fn set(self, secret: &str, lifetime: Duration) -> HeaderValue {
        let (name, secure) = (self.name(), if self.is_secure { "; Secure" } else { "" });
        let age = lifetime.as_secs();
        let value = format!("{name}={secret}; Path=/{secure}; HttpOnly; SameSite=Lax; Max-Age={age}");
        let mut value = HeaderValue::try_from(value).expect("base64url is visible ASCII");
        value.set_sensitive(true);
        value
    }

    pub(super) fn take_back(self) -> HeaderValue {
        self.set("", Duration::ZERO)
    }
}
