//! [`BuildError`]: why a catalogue cannot be built.

use crate::mount_url::InvalidMountUrl;

/// Reason why a catalogue, or an authenticator for it, cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base URL is not valid for a mount.
    #[error("invalid base URL {0}")]
    BaseUrl(InvalidMountUrl),
    /// The documents' URL is not valid for a mount.
    #[error("invalid docs URL {0}")]
    DocsUrl(InvalidMountUrl),
    /// The developer settings' URL is not valid for a mount.
    #[error("invalid settings URL {0}")]
    SettingsUrl(InvalidMountUrl),
    /// The base URL and the documents' URL have the same path.
    #[error("the base URL and the docs URL have the same path {0:?}; use different paths")]
    SamePath(String),
    /// A document would have the path of an operation.
    #[error("the document at {document:?} would hide the operation {operation}; use another docs URL")]
    Collision {
        /// The document's path.
        document: String,
        /// The operation's name.
        operation: &'static str,
    },
    /// No kind of credential is accepted.
    #[error("no kind of credential is accepted, so no course could be read; accept at least one")]
    NoCredentialsAccepted,
    /// An allowed origin is not written as browsers send it.
    #[error("invalid origin {0:?}; use a scheme, a host and any non-default port, e.g. https://app.example.com")]
    Origin(String),
    /// The documents' title is empty or contains a character that titles must not have.
    #[error("invalid docs title {0:?}; use a name without line breaks, brackets, backslashes or backticks")]
    DocsTitle(String),
    /// The contact is neither a mailbox nor the URL of a page.
    #[error("invalid contact {0:?}; use an email address or a URL, e.g. help@example.com or https://example.com/help")]
    DocsContact(String),
    /// The page for API keys is neither a URL nor a path.
    #[error("invalid key page {0:?}; use a URL or a path, e.g. https://example.com/keys or /settings")]
    DocsKeysUrl(String),
    /// The URL of an authorization server is not absolute or not valid.
    #[error("invalid authorization server {0:?}; use its absolute URL, e.g. https://id.example.com")]
    AuthorizationServer(String),
    /// There is an authorization server, but the base URL is only a path.
    #[error(
        "the base URL {0:?} is only a path, but clients of an authorization server need an absolute URL; use one, e.g. https://api.example.com/api/v1"
    )]
    RelativeBaseUrl(String),
    /// A setting that signed tokens are checked against is empty.
    #[error("the {0} of signed tokens is empty; set it")]
    SignedTokens(&'static str),
}
