//! [`Nesting`]: the prefix that a router stripped from the path.

use std::sync::Arc;

use http::Uri;
use http::uri::PathAndQuery;

/// Prefix that the router stripped from every path; empty if none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting(Arc<str>);

impl Nesting {
    /// Creates a nesting. Panics if `prefix` is not the beginning of a path.
    pub(crate) fn at(prefix: &str) -> Self {
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let is_path = |text: &str| text.parse::<PathAndQuery>().is_ok_and(|parsed| parsed.path() == text);
        assert!(
            prefix.is_empty() || (prefix.starts_with('/') && !prefix.ends_with('/') && is_path(prefix)),
            "invalid path prefix {prefix:?}; use e.g. /api/v1"
        );
        Self(prefix.into())
    }

    /// Returns the target as it was before the router stripped the prefix.
    pub(crate) fn restore(&self, uri: Uri) -> Uri {
        // A target without a path (`*`, or that of a CONNECT) had no prefix to strip.
        if self.0.is_empty() || !uri.path().starts_with('/') {
            return uri;
        }
        let mut parts = uri.into_parts();
        let stripped = parts.path_and_query.as_ref().map_or("/", PathAndQuery::as_str);
        // The result may be too long. Then `*` is used, which matches no URL of the catalogue, so nothing is exposed.
        let Ok(restored) = PathAndQuery::try_from(format!("{}{stripped}", self.0)) else {
            return Uri::from_static("*");
        };
        parts.path_and_query = Some(restored);
        Uri::from_parts(parts).expect("a URL with another path is valid")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restored(prefix: &str, target: &str) -> String {
        Nesting::at(prefix).restore(target.parse().unwrap()).to_string()
    }

    #[test]
    fn prefix_is_prepended_to_path() {
        for (target, restored_uri) in [
            ("/me", "/api/v1/me"),
            ("/", "/api/v1/"),
            ("/courses?limit=1&limit=2", "/api/v1/courses?limit=1&limit=2"),
            ("/courses?", "/api/v1/courses?"),
            ("/?cursor=/", "/api/v1/?cursor=/"),
            ("/courses/a%2Fb%20c", "/api/v1/courses/a%2Fb%20c"),
            ("//me", "/api/v1//me"),
            ("https://example.com:8443/me?x", "https://example.com:8443/api/v1/me?x"),
            ("https://example.com", "https://example.com/api/v1/"),
            ("https://example.com?x", "https://example.com/api/v1?x"),
        ] {
            assert_eq!(restored("/api/v1", target), restored_uri, "{target}");
            assert_eq!(restored("/api/v1/", target), restored_uri, "{target}");
        }
    }

    #[test]
    fn target_without_path_is_unchanged() {
        for target in ["*", "example.com:443"] {
            assert_eq!(restored("/api/v1", target), target);
        }
    }

    #[test]
    fn root_prefix_changes_no_target() {
        for prefix in ["", "/"] {
            for target in ["/me?x", "/", "*"] {
                assert_eq!(restored(prefix, target), target);
            }
        }
    }

    #[test]
    fn too_long_path_matches_no_mount() {
        let longest = format!("/{}", "a".repeat(65_533));
        assert_eq!(restored("/", &longest), longest);
        assert_eq!(restored("/api/v1", &longest), "*");
    }

    #[test]
    fn invalid_prefix_panics() {
        for prefix in ["api/v1", "/api?x", "/api#x", "https://example.com/api", "*", "/a b", "//"] {
            assert!(std::panic::catch_unwind(|| Nesting::at(prefix)).is_err(), "{prefix}");
        }
    }
}
