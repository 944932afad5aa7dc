//! [`Cookie`]: the session's secret in a browser.

use std::time::Duration;

use catalogue_core::MountUrl;
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue, request};
use sha2::{Digest, Sha256};

use crate::security::{authority, without_default_port};

/// Maximum total length of a request's `Cookie` fields, in bytes. Longer ones are treated like no cookies.
const MAX_FIELDS: usize = 16 << 10;

/// The session cookie of these settings.
#[derive(Debug)]
pub(super) struct Cookie {
    name: String,
    is_secure: bool,
}

impl Cookie {
    /// Returns the cookie of the settings at `settings`, which is sent over TLS only if it `is_secure`.
    ///
    /// Browsers send it to all ports and paths of the host, so its name identifies the settings by a digest of their URL. If
    /// only the path of the URL is configured, the authority of the request replaces the origin.
    pub(super) fn new(head: &request::Parts, settings: &MountUrl, is_secure: bool) -> Self {
        let origin = match settings.origin() {
            "" => authority(head).ok().flatten().unwrap_or_default(),
            origin => origin,
        };
        let digest = Sha256::new_with_prefix(without_default_port(origin)).chain_update(settings.path()).finalize();
        // The prefix binds the cookie to this host; browsers differ on whether a host without TLS may use it.
        let prefix = if is_secure { "__Host-" } else { "" };
        let digest = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
        Self { name: format!("{prefix}catalogue-settings-{digest:08x}"), is_secure }
    }

    /// Returns the value that came with a request; `None` if there are two, because either may be a foreign one.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<String> {
        // HTTP/2 may send cookies in separate fields, and other applications' cookies may contain any bytes.
        let fields = || headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        if fields().map(<[u8]>::len).sum::<usize>() > MAX_FIELDS {
            return None;
        }
        let pairs = fields().flat_map(|field| field.split(|byte| *byte == b';'));
        let mut values =
            pairs.filter_map(|pair| trim_spaces(pair).strip_prefix(self.name.as_bytes())?.strip_prefix(b"="));
        match (values.next(), values.next()) {
            (Some(value), None) => Some(String::from_utf8_lossy(value).into_owned()),
            _ => None,
        }
    }

    pub(super) fn set(&self, secret: &str, lifetime: Duration) -> HeaderValue {
        let (name, secure) = (&self.name, if self.is_secure { "; Secure" } else { "" });
        let age = lifetime.as_secs();
        let value = format!("{name}={secret}; Path=/{secure}; HttpOnly; SameSite=Lax; Max-Age={age}");
        let mut value = HeaderValue::try_from(value).expect("base64url is visible ASCII");
        value.set_sensitive(true);
        value
    }

    pub(super) fn clear(&self) -> HeaderValue {
        self.set("", Duration::ZERO)
    }
}

/// Removes only spaces and tabs: other white space belongs to a name.
fn trim_spaces(mut pair: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = pair {
        pair = rest;
    }
    pair
}
