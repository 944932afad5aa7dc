//! [`SettingsUrls`]: the URLs of the settings, the API and its documents.

use catalogue_core::{MountUrl, Operation};
use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::SettingsError;

/// Paths below the documents' URL.
const DOCUMENTS: [&str; 4] = ["/openapi.json", "/openapi-3.0.json", "/openapi.md", "/llms.txt"];

/// Characters that are escaped in a path: all but the unreserved ones.
const SEGMENT: AsciiSet = NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.').remove(b'~');

/// URLs of the settings, the API and its documents.
#[derive(Clone, Debug)]
pub(crate) struct SettingsUrls {
    pub(crate) settings: MountUrl,
    pub(crate) base: MountUrl,
    pub(crate) docs: MountUrl,
}

impl SettingsUrls {
    pub(crate) fn parse(settings: &str, base: &str, docs: &str) -> Result<Self, SettingsError> {
        let urls = Self {
            settings: MountUrl::parse(settings).map_err(SettingsError::SettingsUrl)?,
            base: MountUrl::parse(base).map_err(SettingsError::BaseUrl)?,
            docs: MountUrl::parse(docs).map_err(SettingsError::DocsUrl)?,
        };
        let origin = urls.settings.origin();
        if origin.starts_with("http://") && !is_loopback(origin) {
            return Err(SettingsError::PlainHttp(settings.to_owned()));
        }
        match urls.hidden() {
            Some(hidden) => Err(SettingsError::Overlap { settings: settings.to_owned(), hidden }),
            None => Ok(urls),
        }
    }

    /// Returns the path that the settings would hide, if any.
    fn hidden(&self) -> Option<String> {
        let settings = self.settings.path();
        let paths = [self.base.path().to_owned(), self.docs.path().to_owned()].into_iter();
        let operations = Operation::ALL.iter().map(|operation| self.base.path().to_owned() + operation.path());
        let documents = DOCUMENTS.iter().map(|document| self.docs.path().to_owned() + document);
        paths.chain(operations).chain(documents).find(|path| is_at_or_below(path, settings))
    }

    /// Returns the path of a page of the settings; `below` is empty for the list.
    pub(crate) fn page(&self, below: &str) -> String {
        format!("{}{below}", self.settings.path())
    }

    /// Returns the path of a key's page, or of a page `below` it.
    pub(crate) fn key(&self, id: &str, below: &str) -> String {
        format!("{}/keys/{}{below}", self.settings.path(), segment(id))
    }

    /// Returns whether the pages of the settings and the API have the same origin, as far as known.
    pub(crate) fn api_is_same_origin(&self) -> bool {
        let (api, settings) = (self.base.origin(), self.settings.origin());
        api.is_empty() || api.eq_ignore_ascii_case(settings)
    }
}

/// Encodes a text as one segment of a path, or as a value of a query.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, &SEGMENT).to_string()
}

fn is_loopback(origin: &str) -> bool {
    let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_ascii_lowercase));
    matches!(host.as_deref(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Returns whether `path`, which may have parameters in braces, is that of the settings or begins with it.
fn is_at_or_below(path: &str, settings: &str) -> bool {
    let mut segments = path.split('/');
    settings.split('/').all(|own| segments.next().is_some_and(|other| other == own || other.starts_with('{')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_url_must_be_https_or_loopback() {
        for valid in
            ["/settings", "https://a.example/s", "http://localhost:8080/s", "http://127.0.0.1/s", "http://[::1]:1/s"]
        {
            assert!(SettingsUrls::parse(valid, "/api/v1", "/docs").is_ok(), "{valid}");
        }
        for plain in ["http://a.example/s", "http://localhost.example/s", "http://127.0.0.2/s"] {
            let refused = SettingsUrls::parse(plain, "/api/v1", "/docs").unwrap_err();
            assert!(matches!(refused, SettingsError::PlainHttp(_)) && refused.to_string().contains("use https://"));
        }
    }

    #[test]
    fn settings_url_must_not_overlap_other_urls() {
        for (settings, base, docs) in [
            ("/", "/api/v1", "/docs"),
            ("/api", "/api/v1", "/docs"),
            ("/api/v1", "/api/v1", "/docs"),
            ("/docs", "/api/v1", "/docs"),
            ("/api/v1/courses", "/api/v1", "/docs"),
            ("/api/v1/courses/mine", "/api/v1", "/docs"),
            ("/docs/openapi.json", "/api/v1", "/docs"),
            ("/docs/openapi-3.0.json", "/api/v1", "/docs"),
            ("/courses", "/", "/docs"),
        ] {
            let refused = SettingsUrls::parse(settings, base, docs).unwrap_err();
            assert!(matches!(refused, SettingsError::Overlap { .. }), "{settings}: {refused}");
        }
        for settings in ["/settings", "/api/v1/settings", "/docs/settings", "/api/v10", "/ap"] {
            assert!(SettingsUrls::parse(settings, "/api/v1", "/docs").is_ok(), "{settings}");
        }
    }
}
