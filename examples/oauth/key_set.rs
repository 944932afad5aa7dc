//! [`FetchedKeySet`]: an issuer's keys, fetched with the HTTP client of the host application; here hyper's.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::async_trait;
use catalogue_core::auth::signed::FetchKeys;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use http::header::ACCEPT_ENCODING;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs::default_provider;
use tokio::time::timeout;

/// Timeout for a fetch.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a key set in bytes.
const MAX_RESPONSE_BYTES: usize = 256 << 10;

/// A key set at a URL.
#[derive(Debug)]
pub(crate) struct FetchedKeySet {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    url: Uri,
}

impl FetchedKeySet {
    /// Creates a client for the key set at `url`. The system must trust the server's certificate. In production, accept
    /// only `https`: a server that impersonates the issuer can publish its own keys, and then sign tokens.
    pub(crate) fn at(url: Uri) -> io::Result<Self> {
        let connector = HttpsConnectorBuilder::new().with_provider_and_native_roots(default_provider())?;
        let connector = connector.https_or_http().enable_http1().build();
        Ok(Self { client: Client::builder(TokioExecutor::new()).build(connector), url })
    }

    /// Fetches the key set. This client does not follow redirects.
    async fn get(&self) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
        // This client does not decode bodies. Without this header, the server may choose any coding.
        let request = Request::get(self.url.clone()).header(ACCEPT_ENCODING, "identity");
        let response = self.client.request(request.body(Empty::new())?).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("unexpected response: {}", response.status()).into());
        }
        Ok(Limited::new(response.into_body(), MAX_RESPONSE_BYTES).collect().await?.to_bytes())
    }
}

#[async_trait]
impl FetchKeys for FetchedKeySet {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        let fetched = timeout(FETCH_TIMEOUT, self.get()).await.unwrap_or_else(|late| Err(late.into()));
        let message = "cannot fetch the issuer's keys";
        fetched.map_err(|error| StorageError::new(StorageErrorKind::Unavailable, message).with_source(error))
    }
}
