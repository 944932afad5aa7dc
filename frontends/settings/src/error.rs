//! [`SettingsError`]: why the developer settings cannot be built.

use catalogue_core::InvalidMountUrl;

/// Why the developer settings cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The settings' URL is not a valid mount URL.
    #[error("the settings' address {0}")]
    SettingsUrl(InvalidMountUrl),
    /// The base URL is not a valid mount URL.
    #[error("the base address {0}")]
    BaseUrl(InvalidMountUrl),
    /// The documents' URL is not a valid mount URL.
    #[error("the documents' address {0}")]
    DocsUrl(InvalidMountUrl),
    /// The settings' URL has the scheme http, and its host is not this machine.
    #[error(
        "the settings' address {0:?} has no TLS; write https://…; a session over plain HTTP can be read on the way"
    )]
    PlainHttp(String),
    /// The settings would hide the API, its documents or one of their paths.
    #[error(
        "{hidden} stands at or below the settings' address {settings:?}; move the settings elsewhere, like /settings"
    )]
    Overlap {
        /// The settings' URL, as configured.
        settings: String,
        /// The path that would be hidden.
        hidden: String,
    },
}
