//! [`BuildError`]: why a catalogue cannot be built.

use crate::mount_url::InvalidMountUrl;

/// Reason why a catalogue cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base URL is not a URL or path to mount at.
    #[error("the base address {0}")]
    BaseUrl(InvalidMountUrl),
    /// The documents' URL is not a URL or path to mount at.
    #[error("the documents' address {0}")]
    DocsUrl(InvalidMountUrl),
    /// The developer settings' URL is not a URL or path to mount at.
    #[error("the developer settings' address {0}")]
    SettingsUrl(InvalidMountUrl),
    /// The base URL and the documents' URL have the same path.
    #[error("the base address and the documents' address have the same path {0:?}; give each its own")]
    SamePath(String),
    /// A document would have the path of an operation.
    #[error("the document at {document:?} would hide the operation {operation}; move the documents' address elsewhere")]
    Collision {
        /// The document's path.
        document: String,
        /// The operation's name.
        operation: &'static str,
    },
    /// No kind of credential is accepted.
    #[error("no kind of credential is accepted, so nobody could read a course; accept one at least")]
    NoCredentialsAccepted,
    /// A text is not an origin as browsers send it.
    #[error(
        "{0:?} is not an origin; write a scheme, a host and a port where it is not the usual one, like https://app.example.com"
    )]
    Origin(String),
    /// A text cannot be the documents' title.
    #[error(
        "{0:?} cannot be the documents' title; write a name without line breaks, brackets and backticks, like Courses of Example"
    )]
    DocsTitle(String),
    /// A text is neither a mailbox nor the URL of a page.
    #[error("{0:?} is no contact; write a mailbox or a page, like help@example.com or https://example.com/help")]
    DocsContact(String),
    /// A text is not the URL of a page.
    #[error(
        "{0:?} is not where keys can be made; write the address of a page, like https://example.com/settings/keys or /settings"
    )]
    DocsKeysUrl(String),
    /// A text is not the URL of an authorization server.
    #[error("{0:?} is no authorization server; write its whole address, like https://id.example.com")]
    AuthorizationServer(String),
    /// There is an authorization server, but the base URL is only a path.
    #[error(
        "clients of an authorization server must know the API's whole address, and the base address {0:?} is a path alone; write one like https://api.example.com/api/v1"
    )]
    RelativeBaseUrl(String),
    /// A value that signed tokens are checked against is empty.
    #[error("the {0} of signed tokens is empty; say what it is")]
    SignedTokens(&'static str),
}
