//! [`DocumentFormat`]: the documents below the documents' URL.

/// Version of OpenAPI that the document is written in.
pub(crate) const OPENAPI: &str = "3.1.0";
/// Version of the API (section 9).
pub(crate) const VERSION: &str = "1.0.0";
pub(crate) const TITLE: &str = "Course Catalogue Read API";

/// Format of the API's description, as it is publicly served below the documents' URL, and for
/// [`Catalogue::document`](crate::Catalogue::document).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// The reference page in HTML.
    Reference,
    /// OpenAPI 3.1.
    OpenApi,
    /// OpenAPI 3.0, for older generators.
    OpenApi30,
    /// The Markdown rendering of the reference.
    Markdown,
    /// The index for AI agents.
    Llms,
}

impl DocumentFormat {
    pub(crate) const ALL: [Self; 5] = [Self::Reference, Self::OpenApi, Self::OpenApi30, Self::Markdown, Self::Llms];

    /// Returns the path relative to the documents' URL.
    pub(crate) const fn path(self) -> &'static str {
        self.row().0
    }

    pub(crate) const fn media_type(self) -> &'static str {
        self.row().1
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Reference => ("", "text/html; charset=utf-8"),
            Self::OpenApi => ("/openapi.json", "application/json"),
            Self::OpenApi30 => ("/openapi-3.0.json", "application/json"),
            Self::Markdown => ("/openapi.md", "text/markdown; charset=utf-8"),
            Self::Llms => ("/llms.txt", "text/plain; charset=utf-8"),
        }
    }

    /// Returns the document at `path` below the documents' URL; the reference page even with a trailing slash.
    pub(crate) fn at(path: &str) -> Option<Self> {
        let path = if path == "/" { "" } else { path };
        Self::ALL.into_iter().find(|document| document.path() == path)
    }
}
