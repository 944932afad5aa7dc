//! Links to the documents, and their URLs.

use std::fmt;

use super::DocumentFormat;
use crate::mount_url::MountUrl;

/// Placeholder host in examples, if the server's URL has no host.
pub(super) const EXAMPLE_HOST: &str = "api.example.com";

/// A link to one document.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) document: DocumentFormat,
    title: &'static str,
    url: String,
    note: &'static str,
}

impl fmt::Display for Link {
    /// Writes the link in Markdown, with its note.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]({}): {}", self.title, destination(&self.url), self.note)
    }
}

pub(super) fn links(docs: &MountUrl) -> Vec<Link> {
    let link = |document, title, note| Link { document, title, url: document_url(docs, document), note };
    vec![
        link(DocumentFormat::OpenApi, "OpenAPI 3.1", "for generators and tools"),
        link(DocumentFormat::OpenApi30, "OpenAPI 3.0", "for older generators"),
        link(DocumentFormat::Markdown, "Markdown", "the reference as text"),
        link(DocumentFormat::Reference, "Reference page", "the reference for people"),
        link(DocumentFormat::Llms, "llms.txt", "the index for AI agents"),
    ]
}

pub(super) fn document_url(docs: &MountUrl, document: DocumentFormat) -> String {
    // With the documents at the root, the page's path needs a slash: an empty URL would not be a link.
    let path = if document == DocumentFormat::Reference && docs.path().is_empty() { "/" } else { document.path() };
    format!("{}{path}", docs.as_str())
}

/// Formats a URL as the destination of a Markdown link: in angle brackets if it contains a parenthesis.
pub(super) fn destination(url: &str) -> String {
    if url.contains(['(', ')']) { format!("<{url}>") } else { url.to_owned() }
}
