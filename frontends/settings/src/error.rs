//! [`SettingsError`]: why the developer settings cannot be built.

use catalogue_core::InvalidMountUrl;

/// Why the developer settings cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The settings' URL is not a valid mount URL.
    #[error("invalid settings URL {0}")]
    SettingsUrl(InvalidMountUrl),
    /// The base URL is not a valid mount URL.
    #[error("invalid base URL {0}")]
    BaseUrl(InvalidMountUrl),
    /// The documents' URL is not a valid mount URL.
    #[error("invalid docs URL {0}")]
    DocsUrl(InvalidMountUrl),
    /// The settings' URL has the scheme http, and its host is not this machine.
    #[error("the settings URL {0:?} is plain HTTP, so sessions could be intercepted; use https://…")]
    PlainHttp(String),
    /// The settings would hide the API, its documents or one of their paths.
    #[error("the settings URL {settings:?} would hide {hidden}; use another URL, e.g. /settings")]
    Overlap {
        /// The settings' URL, as configured.
        settings: String,
        /// The path that would be hidden.
        hidden: String,
    },
}
