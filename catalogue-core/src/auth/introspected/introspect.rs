//! [`Introspect`]: the host application's client for token introspection.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;

use crate::storage::StorageError;

/// Introspects tokens at an authorization server (RFC 7662), with the host application's HTTP client.
///
/// # Contract
/// - Send the token and the host application's credentials over TLS to the issuer's own URL, and follow no redirect.
/// - Request a response without a content coding, or decode it.
/// - Finish within two seconds, and read at most 64 KiB (decision O38).
/// - Keep the token out of all errors and logs.
/// - The future may be dropped before it finishes. At most 64 calls run concurrently.
///
/// ```
/// use bytes::Bytes;
/// use catalogue_core::async_trait;
/// use catalogue_core::auth::introspected::Introspect;
/// use catalogue_core::storage::StorageError;
///
/// /// An issuer that reports every token as inactive.
/// #[derive(Debug)]
/// struct NoneActive;
///
/// #[async_trait]
/// impl Introspect for NoneActive {
///     async fn introspect(&self, _token: &str) -> Result<Bytes, StorageError> {
///         Ok(Bytes::from_static(br#"{"active":false}"#))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot introspect tokens: it does not implement `Introspect`",
    label = "does not implement `Introspect`",
    note = "implement `introspect`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
pub trait Introspect: fmt::Debug + Send + Sync + 'static {
    /// Returns the body of the issuer's response with status 200.
    /// Signature: `async fn introspect(&self, token: &str) -> Result<Bytes, StorageError>`
    ///
    /// # Errors
    /// Returns an error if there is no such response: the issuer is unreachable or late, or rejects the host application's
    /// credentials. The request gets a 500, and the log has the error with its sources.
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError>;
}
