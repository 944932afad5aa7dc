//! [`FetchKeys`]: how the host application fetches an issuer's key set.

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;
use bytes::Bytes;

use crate::storage::StorageError;

/// Fetches an issuer's key set, for example over HTTP or from a file. `Bytes` is a constant set.
///
/// # Contract
/// - Finish within five seconds, because requests wait for it, and read at most 256 KiB.
/// - Over a network, fetch from the issuer's own URL over TLS, verify the issuer's name, and follow no redirect (decision
///   O23): an impostor could sign tokens. Request a response without a content coding, or decode it.
/// - The future may be dropped before it finishes. Several requests may poll it in turn, with pauses of up to ten seconds,
///   so spawn a task for a fetch that has a timeout.
///
/// ```
/// use bytes::Bytes;
/// use catalogue_core::auth::signed::FetchKeys;
/// use catalogue_core::async_trait;
/// use catalogue_core::storage::{StorageError, StorageErrorKind};
///
/// /// A key set in a file that another program updates.
/// #[derive(Debug)]
/// struct File(std::path::PathBuf);
///
/// #[async_trait]
/// impl FetchKeys for File {
///     async fn fetch(&self) -> Result<Bytes, StorageError> {
///         let read = std::fs::read(&self.0).map(Bytes::from);
///         read.map_err(|e| StorageError::new(StorageErrorKind::Unavailable, "the key set cannot be read").with_source(e))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fetch keys: it does not implement `FetchKeys`",
    label = "does not implement `FetchKeys`",
    note = "implement `fetch`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait FetchKeys: fmt::Debug + Send + Sync + 'static {
    /// Returns the issuer's key set as JSON (RFC 7517). Signature: `async fn fetch(&self) -> Result<Bytes, StorageError>`
    ///
    /// # Errors
    /// Returns an error if the set cannot be fetched now. The log has the error with its sources.
    async fn fetch(&self) -> Result<Bytes, StorageError>;
}

#[async_trait]
impl FetchKeys for Bytes {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        Ok(self.clone())
    }
}
