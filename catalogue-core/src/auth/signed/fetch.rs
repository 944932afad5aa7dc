//! [`FetchKeys`]: how a host gets an issuer's key set.

use std::fmt;

use async_trait::async_trait;
use auto_impl::auto_impl;
use bytes::Bytes;

use crate::storage::StorageError;

/// Fetches an issuer's key set: with the client that the host has, from a file, or one that stays (`Bytes`).
///
/// # Contract
/// - It ends within five seconds, since requests wait for it, and reads 256 KiB at most.
/// - Over a network it fetches from the issuer's own address over TLS, proves the issuer's name, and follows no redirect
///   (decision O23): whoever answers in the issuer's place signs tokens. It asks for an answer without a content coding, or
///   decodes it.
/// - It may be dropped before it ends, and polled by one request and then another. In between it may not be polled for ten
///   seconds: where its time is limited, it runs in a task of its own.
///
/// ```
/// use bytes::Bytes;
/// use catalogue_core::auth::signed::FetchKeys;
/// use catalogue_core::async_trait;
/// use catalogue_core::storage::{StorageError, StorageErrorKind};
///
/// /// A key set in a file that somebody renews.
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
    message = "`{Self}` fetches no keys: it does not implement `FetchKeys`",
    label = "no `FetchKeys`",
    note = "implement `fetch`, with `#[catalogue_core::async_trait]` above the `impl`"
)]
#[async_trait]
#[auto_impl(Arc, Box)]
pub trait FetchKeys: fmt::Debug + Send + Sync + 'static {
    /// The issuer's key set as JSON (RFC 7517).
    ///
    /// # Errors
    /// When it cannot be fetched now. The log has the error with its sources.
    async fn fetch(&self) -> Result<Bytes, StorageError>;
}

/// A set that stays.
#[async_trait]
impl FetchKeys for Bytes {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        Ok(self.clone())
    }
}
