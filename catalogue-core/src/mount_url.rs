//! [`MountUrl`]: URL or path that the API, its documents or a host application's pages are mounted at (decision R1).

use http::Uri;

/// A URL such as `https://api.example.com/api/v1`, or only its path, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountUrl {
    text: String,
    path_start: usize,
}

/// Error for a text that is not a [`MountUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {reason}; use a URL or a path, e.g. https://api.example.com/api/v1 or /api/v1")]
pub struct InvalidMountUrl {
    text: String,
    reason: &'static str,
}

impl MountUrl {
    /// Parses a URL or a path.
    ///
    /// # Errors
    /// Returns an error with the reason if nothing can be mounted at `text`.
    pub fn parse(text: &str) -> Result<Self, InvalidMountUrl> {
        let fail = |reason| Err(InvalidMountUrl { text: text.to_owned(), reason });
        if text.contains(['?', '#']) {
            return fail("it has a query or a fragment");
        }
        if !text.is_ascii() || has_invalid_escape(text) {
            return fail("it contains characters that must be percent-encoded");
        }
        if text.contains(['{', '}', '"', '\\', '<', '>']) {
            return fail("it contains a character that URLs cannot have");
        }
        let path_start = if text.starts_with('/') && text.parse::<Uri>().is_ok_and(|uri| uri.authority().is_none()) {
            0
        } else if text.contains("://") {
            match parse_http_url(text) {
                Ok(url) => {
                    text.find("://").map_or(0, |at| at + 3) + url.authority().map_or(0, |host| host.as_str().len())
                }
                Err(reason) => return fail(reason),
            }
        } else {
            return fail("it is neither an absolute URL nor a path that begins with /");
        };
        let text = text.strip_suffix('/').unwrap_or(text);
        if text[path_start..].split('/').skip(1).any(|segment| matches!(segment, "" | "." | "..")) {
            return fail("its path has an empty segment, `.` or `..`");
        }
        Ok(Self { text: text.to_owned(), path_start })
    }

    /// Returns the URL or path; empty for the root path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the path that routes begin with; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.text[self.path_start..]
    }

    /// Returns scheme, host and port; empty if the URL is only a path.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.text[..self.path_start]
    }

    /// Returns the rest of `path` below this URL: empty, or with a leading slash. `None` if `path` is not below it.
    #[must_use]
    pub fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.path())?;
        let is_mount_root = rest.is_empty() && !self.path().is_empty();
        (is_mount_root || rest.starts_with('/')).then_some(rest)
    }
}

/// Parses the URL of a server. The error is a reason such as "it has no host"; it does not repeat the text, which may hold a
/// password.
///
/// # Errors
/// Returns the reason if `text` is not a URL, its scheme is neither `http` nor `https`, or it has no host, an invalid port,
/// a user name or a fragment.
pub fn parse_http_url(text: &str) -> Result<Uri, &'static str> {
    let url: Uri = text.parse().map_err(|_| "it is not a URL")?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err("its scheme is neither http nor https");
    }
    match url.authority() {
        Some(authority) if authority.as_str().contains('@') => Err("it contains a user name"),
        Some(authority) if authority.host().is_empty() => Err("it has no host"),
        Some(authority) if authority.as_str() != authority.host() && authority.port_u16().is_none() => {
            Err("its port is not a number up to 65535")
        }
        Some(_) if text.contains('#') => Err("it has a fragment"),
        Some(_) => Ok(url),
        None => Err("it has no host"),
    }
}

/// Returns whether `text` has a `%` without two hexadecimal digits after it, which the decoder would take literally.
pub(crate) fn has_invalid_escape(text: &str) -> bool {
    let mut pieces = text.split('%').skip(1);
    pieces.any(|piece| !piece.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_url_is_normalized() {
        for (text, normalized, path) in [
            ("/api/v1", "/api/v1", "/api/v1"),
            ("/api/v1/", "/api/v1", "/api/v1"),
            ("/", "", ""),
            ("https://api.example.com/api/v1", "https://api.example.com/api/v1", "/api/v1"),
            ("https://api.example.com/api/v1/", "https://api.example.com/api/v1", "/api/v1"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", ""),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", ""),
        ] {
            let url = MountUrl::parse(text).unwrap();
            assert_eq!((url.as_str(), url.path()), (normalized, path), "{text}");
        }
    }

    #[test]
    fn invalid_mount_urls_are_refused() {
        for text in [
            "",
            "api/v1",
            "/a//b",
            "/a//",
            "//",
            "//a",
            "/a/../b",
            "/a?b",
            "/a#b",
            "ftp://x/y",
            "https://u:p@x/y",
            "https://",
            "https:///a",
            "/a b",
            "*",
            "example.com",
            "example.com:80",
            "/é",
            "/%zz",
            "/a{b}",
            "/a\\b",
            "https://a:99999/x",
            "https://a:/x",
        ] {
            let parsed = MountUrl::parse(text);
            assert!(parsed.is_err(), "{text}: {parsed:?}");
        }
    }

    #[test]
    fn invalid_mount_url_has_a_reason() {
        for (text, reason) in [
            ("https://u:p@x/y", "it contains a user name"),
            ("ftp://x/y", "its scheme is neither http nor https"),
            ("*", "it is neither an absolute URL nor a path that begins with /"),
        ] {
            assert_eq!(MountUrl::parse(text).unwrap_err().reason, reason, "{text}");
        }
    }

    #[test]
    fn below_requires_whole_segment() {
        let url = MountUrl::parse("/api/v1").unwrap();
        assert_eq!(url.below("/api/v1/me"), Some("/me"));
        assert_eq!(url.below("/api/v1"), Some(""));
        assert_eq!(url.below("/api/v10"), None);
        let root = MountUrl::parse("/").unwrap();
        assert_eq!(root.below("/me"), Some("/me"));
        assert_eq!(root.below("*"), None);
        assert_eq!(root.below(""), None);
    }
}
