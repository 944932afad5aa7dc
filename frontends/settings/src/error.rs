//! [`SettingsError`]: why the developer settings cannot be built.

use catalogue_core::AddressError;

/// Why the developer settings cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The settings' address is not an address to mount at.
    #[error("the settings' address {0}")]
    SettingsUrl(AddressError),
    /// The base address is not an address to mount at.
    #[error("the base address {0}")]
    BaseUrl(AddressError),
    /// The documents' address is not an address to mount at.
    #[error("the documents' address {0}")]
    DocsUrl(AddressError),
    /// The settings' address has the scheme http, and its host is not this machine.
    #[error(
        "the settings' address {0:?} has no TLS; write https://…; a session over plain HTTP can be read on the way"
    )]
    PlainHttp(String),
    /// The API, its documents or one of their paths would be hidden.
    #[error(
        "{hidden} stands at or below the settings' address {settings:?}; move the settings elsewhere, like /settings"
    )]
    Overlap {
        /// The settings' address, as it was given.
        settings: String,
        /// What would be hidden.
        hidden: String,
    },
}
