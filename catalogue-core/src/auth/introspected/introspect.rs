//! [`Introspect`]: how a host asks an issuer about a token.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;

use crate::storage::StorageError;

/// Asks an authorization server about a token (RFC 7662), with the client that the host has.
///
/// # Contract
/// - It sends the token and the host's own credentials over TLS to the issuer's own address, and follows no redirect.
/// - It asks for an answer without a content coding, or decodes it.
/// - It ends within two seconds, and reads 64 KiB at most (decision O38).
/// - No error and no log has the token.
/// - It may be dropped before it ends. At most 64 calls run at the same time.
///
/// ```
/// use bytes::Bytes;
/// use catalogue_core::async_trait;
/// use catalogue_core::auth::introspected::Introspect;
/// use catalogue_core::storage::StorageError;
///
/// /// An issuer that has ended all its tokens.
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
    message = "`{Self}` asks nobody about tokens: it does not implement `Introspect`",
    label = "no `Introspect`",
    note = "implement `introspect`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
pub trait Introspect: fmt::Debug + Send + Sync + 'static {
    /// The body of the issuer's answer, whose status is 200.
    ///
    /// # Errors
    /// When there is none: the issuer is away or late, or does not take the host's credentials. The request is answered 500,
    /// and the log has the error with its sources.
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError>;
}
