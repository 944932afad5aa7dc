//! [`Document`]: what can be read below the documents' address.

/// The version of OpenAPI that the document is written in.
pub(crate) const OPENAPI: &str = "3.1.0";
/// The version of the API (section 9).
pub(crate) const VERSION: &str = "1.0.0";
pub(crate) const TITLE: &str = "Course Catalogue Read API";

/// A document that anybody may read below the documents' address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Document {
    /// The reference page, at the address itself.
    Reference,
    /// The OpenAPI document.
    OpenApi,
    /// The same as OpenAPI 3.0, for older generators.
    OpenApi30,
    /// The Markdown rendering of the reference.
    Markdown,
    /// The index for AI agents.
    Llms,
}

impl Document {
    pub(crate) const ALL: [Self; 5] = [Self::Reference, Self::OpenApi, Self::OpenApi30, Self::Markdown, Self::Llms];

    /// Relative to the documents' address.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Reference => "",
            Self::OpenApi => "/openapi.json",
            Self::OpenApi30 => "/openapi-3.0.json",
            Self::Markdown => "/openapi.md",
            Self::Llms => "/llms.txt",
        }
    }

    /// The document at `path` below the documents' address; the reference page also with a slash at the end.
    pub(crate) fn at(path: &str) -> Option<Self> {
        let path = if path == "/" { "" } else { path };
        Self::ALL.into_iter().find(|document| document.path() == path)
    }
}
