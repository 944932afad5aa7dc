//! [`Endpoint`]: where a collector is.

use std::fmt;

use http::Uri;
use http::uri::{Authority, Scheme};
use rustls::pki_types::ServerName;

const RIGHT: &str = "write http://HOST:PORT or https://HOST:PORT, like http://127.0.0.1:4318";

/// What OTLP puts behind a collector's address for traces.
const TRACES: &str = "/v1/traces";

/// Where a collector is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Whom its certificate must be for, where it is asked over HTTPS.
    pub(super) certified: Option<ServerName<'static>>,
    pub(super) authority: Authority,
    /// To be asked for.
    pub(super) path: String,
}

impl Endpoint {
    /// Reads a collector's address. No message repeats it: it could hold a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}; {RIGHT}");
        let uri: Uri = text.parse().map_err(|_| wrong("the address of the collector cannot be read"))?;
        let secured = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            _ => return Err(wrong("a collector is asked over HTTP or HTTPS")),
        };
        let authority = uri.authority().filter(|authority| !authority.host().is_empty());
        let authority = authority.ok_or_else(|| wrong("the address of the collector has no host"))?;
        if authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
            return Err(wrong("the address of a collector has neither a user nor a query"));
        }
        // One that does not fit counts as none.
        if authority.as_str() != authority.host() && authority.port_u16().is_none() {
            return Err(wrong("the address of the collector has no port that can be"));
        }
        let base = uri.path().trim_end_matches('/');
        if base.ends_with(TRACES) {
            return Err(wrong(&format!("{TRACES} is added to the address of the collector")));
        }
        let certified = secured.then(|| ServerName::try_from(plain_host(authority).to_owned())).transpose();
        let certified = certified.map_err(|_| wrong("the collector has a name that no certificate can be for"))?;
        Ok(Self { certified, authority: authority.clone(), path: format!("{base}{TRACES}") })
    }

    /// Without the brackets of an IPv6 address.
    pub(super) fn host(&self) -> &str {
        plain_host(&self.authority)
    }

    pub(super) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.certified.is_some() { 443 } else { 80 })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { certified, authority, path } = self;
        write!(f, "{}://{authority}{path}", if certified.is_some() { "https" } else { "http" })
    }
}

fn plain_host(authority: &Authority) -> &str {
    let host = authority.host();
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_traces_is_added() {
        for (text, shown, host, port) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces", "127.0.0.1", 4318),
            ("http://collector/", "http://collector/v1/traces", "collector", 80),
            ("https://otlp.example.com/a/b/", "https://otlp.example.com/a/b/v1/traces", "otlp.example.com", 443),
            ("HTTP://[::1]:4318", "http://[::1]:4318/v1/traces", "::1", 4318),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!((&*endpoint.to_string(), endpoint.host(), endpoint.port()), (shown, host, port));
        }
    }

    #[test]
    fn all_else_is_refused_and_no_message_repeats_it() {
        for text in [
            "",
            "hunter2",
            "hunter2:4318",
            "grpc://hunter2:4317",
            "http://",
            "http:///hunter2",
            "http://hunter2:",
            "http://hunter2:65536",
            "http://hunter2:port",
            "http://user:hunter2@collector",
            "http://collector?key=hunter2",
            "http://collector#hunter2",
            "http://collector/hunter2/v1/traces",
            "http://hunter 2",
            "https://hunter-:4318",
        ] {
            let message = Endpoint::parse(text).unwrap_err();
            assert!(message.contains("like http://127.0.0.1:4318") && !message.contains("hunter"), "{text}: {message}");
        }
    }
}
