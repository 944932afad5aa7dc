//! [`IssuerUrl`]: the URL of a trusted issuer, and [`parse_server_url`], which parses the URL of any server.

use std::fmt;
use std::net::IpAddr;

use catalogue_core::parse_http_url;
use http::Uri;
use rustls::pki_types::ServerName;
use thiserror::Error;

const HINT: &str = "use https://HOST/PATH, or http on this machine, e.g. http://127.0.0.1:9000";

/// URL of an issuer that is trusted: `https`, or `http` to this machine (decision O23).
#[derive(Clone, PartialEq, Eq)]
pub struct IssuerUrl(Uri);

/// Error: a text is not a valid URL of a server. The message has a hint, but not the text, which could contain a password.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidUrl(String);

impl IssuerUrl {
    /// Parses a URL such as `https://id.example.com/keys`.
    ///
    /// # Errors
    /// Returns an error if `text` is not a URL, has user info or a fragment, or is plain HTTP to a non-loopback host.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let uri = parse_server_url(text, "issuer", HINT)?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_loopback = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.to_canonical().is_loopback());
        if uri.scheme_str() == Some("https") || is_loopback {
            return Ok(Self(uri));
        }
        Err(InvalidUrl(format!("plain HTTP to another machine would allow forged tokens; {HINT}")))
    }

    /// Like [`parse`](Self::parse), but for an issuer, whose URL has no query (RFC 8414).
    ///
    /// # Errors
    /// Returns an error in the cases of [`parse`](Self::parse), and if there is a query.
    pub fn parse_issuer(text: &str) -> Result<Self, InvalidUrl> {
        let url = Self::parse(text)?;
        let has_query = || InvalidUrl(format!("the URL of an issuer has no query (RFC 8414); {HINT}"));
        if url.0.query().is_some() { Err(has_query()) } else { Ok(url) }
    }

    /// Returns whether the scheme is `https`, so that a certificate authenticates the server.
    pub(crate) fn is_secured(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }
}

impl fmt::Display for IssuerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for IssuerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IssuerUrl({self})")
    }
}

/// Parses the URL of a server for [`client`](crate::client). Errors name `server`, such as `collector`, and end with
/// `hint`.
///
/// # Errors
/// Returns an error if `text` is not an HTTP(S) URL, or has user info, a fragment or a host that no certificate can name.
pub fn parse_server_url(text: &str, server: &str, hint: &str) -> Result<Uri, InvalidUrl> {
    let invalid = |reason: &str| InvalidUrl(format!("invalid URL of the {server}: {reason}; {hint}"));
    let uri = parse_http_url(text).map_err(invalid)?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    if uri.scheme_str() == Some("https") && ServerName::try_from(host).is_err() {
        return Err(invalid("no certificate can be issued for its host"));
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_must_be_https_or_loopback() {
        for text in [
            "https://id.example.com",
            "https://a:8443/b/",
            "http://localhost:1",
            "http://127.0.0.9",
            "http://[::1]:2/x",
            "http://[::ffff:127.0.0.1]:2/x",
            "https://a/keys?p=policy",
        ] {
            assert!(IssuerUrl::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "id.example.com",
            "http://id.example.com",
            "http://10.0.0.1",
            "https://u:hunter2@a",
            "https://u@a",
            "https://a#b",
            "ftp://a",
            "https://:443",
            "https://a:99999",
            "https://a..b",
        ] {
            let message = IssuerUrl::parse(text).unwrap_err().to_string();
            assert!(message.contains("https://HOST") && !message.contains("hunter"), "{text}: {message}");
        }
        assert!(IssuerUrl::parse_issuer("https://a?b").unwrap_err().to_string().contains("RFC 8414"));
    }
}
