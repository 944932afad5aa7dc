//! [`IssuerKeys`]: fetches an issuer's key set from the URL in its metadata, another URL or a file (decisions O22 and O23).

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use catalogue_core::auth::signed::FetchKeys;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use catalogue_core::{Utf8Reader, async_trait};
use http::Request;
use http::header::ACCEPT;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::client::{self, HttpClient, NoCertificates};
use crate::exchange::{exchange, with_timeout};
use crate::url::IssuerUrl;

/// Timeout for a fetch, with all its requests.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a response or a file, in bytes.
const MAX_RESPONSE_BYTES: usize = 256 << 10;
/// Time for which the `jwks_uri` from the metadata is cached.
const JWKS_URI_TTL: Duration = Duration::from_secs(60 * 60);

/// Location of an issuer's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// At the `jwks_uri` in the issuer's metadata (OIDC Discovery, otherwise RFC 8414).
    Metadata,
    /// At this URL.
    Url(IssuerUrl),
    /// In a file.
    File(PathBuf),
}

/// Source of an issuer's keys. Needs a Tokio runtime. Clones share their state.
#[derive(Clone, Debug)]
pub struct IssuerKeys {
    issuer: String,
    source: KeySource,
    client: HttpClient,
    /// Cached `jwks_uri` from the metadata, and when it was found; `None` before the first fetch and after a failed one.
    cached_jwks_uri: Arc<Mutex<Option<(Instant, IssuerUrl)>>>,
}

/// A key set as it was received.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchedKeys {
    /// The set, as JSON (RFC 7517).
    pub set: Bytes,
    /// The issuer's clock: the `Date` of the response, if it has one.
    pub date: Option<String>,
}

/// Fields of the metadata that are read (OIDC Discovery, RFC 8414).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl IssuerKeys {
    /// Creates a source of the keys of `issuer`, as its tokens name it in `iss`. Sends no request yet.
    ///
    /// # Errors
    /// Returns an error if the keys are fetched over TLS and no CA certificate of the system can be read.
    pub fn new(issuer: &str, source: KeySource) -> Result<Self, NoCertificates> {
        let secured = match &source {
            KeySource::File(_) => false,
            KeySource::Url(url) => url.is_secured(),
            KeySource::Metadata => issuer.starts_with("https:"),
        };
        let client = client::issuer_client(secured)?;
        Ok(Self { issuer: issuer.to_owned(), source, client, cached_jwks_uri: Arc::default() })
    }

    /// Like [`fetch`](FetchKeys::fetch), but also returns the issuer's clock.
    ///
    /// # Errors
    /// Returns an error if the issuer is unreachable or does not respond within 5 s, or if the file cannot be read. Also if a
    /// response is not a 200, has a content coding or more than 256 KiB, or is another issuer's metadata.
    pub async fn fetch_dated(&self) -> Result<FetchedKeys, StorageError> {
        let fetched = with_timeout(FETCH_TIMEOUT, self.fetch_set()).await;
        fetched.map_err(|why| {
            self.cache_jwks_uri(None);
            StorageError::new(StorageErrorKind::Unavailable, why)
        })
    }

    async fn fetch_set(&self) -> Result<FetchedKeys, String> {
        match &self.source {
            KeySource::Metadata => self.get(&self.jwks_uri().await?).await,
            KeySource::Url(url) => self.get(url).await,
            KeySource::File(path) => {
                let path = path.clone();
                let read = spawn_blocking(move || read(&path)).await.map_err(|error| error.to_string())?;
                read.map(|set| FetchedKeys { set, date: None })
            }
        }
    }

    /// Returns the `jwks_uri` from the issuer's metadata at the URL of OIDC Discovery. Falls back to the URL of RFC 8414 after
    /// any error, such as an HTML page instead of metadata.
    async fn jwks_uri(&self) -> Result<IssuerUrl, String> {
        let cached = self.cached_jwks_uri.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, url)) = cached.filter(|(found_at, _)| found_at.elapsed() < JWKS_URI_TTL) {
            return Ok(url);
        }
        let (origin, path) = split_origin(&self.issuer);
        let [first, second] = [
            format!("{origin}{path}/.well-known/openid-configuration"),
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
        ];
        let url = match self.jwks_uri_at(&first).await {
            Ok(url) => url,
            Err(why) => self.jwks_uri_at(&second).await.map_err(|other| format!("{why}; {other}"))?,
        };
        self.cache_jwks_uri(Some((Instant::now(), url.clone())));
        Ok(url)
    }

    async fn jwks_uri_at(&self, metadata_url: &str) -> Result<IssuerUrl, String> {
        let response = self.get(&parse_url(metadata_url)?).await?;
        self.jwks_uri_in(&response.set).map_err(|why| format!("{metadata_url}: {why}"))
    }

    /// Returns the `jwks_uri` in `metadata`, which must be this issuer's (RFC 8414 section 3.3).
    fn jwks_uri_in(&self, metadata: &[u8]) -> Result<IssuerUrl, String> {
        let read = serde_json::from_slice(metadata);
        let metadata: Metadata = read.map_err(|error| format!("invalid issuer metadata: {error}"))?;
        if metadata.issuer != self.issuer {
            return Err(format!("the metadata name the issuer {:?}; configure that name", metadata.issuer));
        }
        parse_url(&metadata.jwks_uri).map_err(|error| format!("jwks_uri in the metadata: {error}"))
    }

    fn cache_jwks_uri(&self, found: Option<(Instant, IssuerUrl)>) {
        *self.cached_jwks_uri.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    async fn get(&self, url: &IssuerUrl) -> Result<FetchedKeys, String> {
        let request = Request::get(url.uri()).header(ACCEPT, "application/json, application/jwk-set+json");
        let response = exchange(&self.client, request, Bytes::new(), MAX_RESPONSE_BYTES).await;
        let (set, date) = response.map_err(|why| format!("{url}: {why}"))?;
        Ok(FetchedKeys { set, date })
    }
}

#[async_trait]
impl FetchKeys for IssuerKeys {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        let this = self.clone();
        // Spawned, because the request that polls this may be dropped, and a fetch that is not polled would time out.
        let fetched = tokio::spawn(async move { this.fetch_dated().await }).await;
        let failed = |error| StorageError::new(StorageErrorKind::Other, "fetching the keys failed").with_source(error);
        Ok(fetched.map_err(failed)??.set)
    }
}

fn parse_url(text: &str) -> Result<IssuerUrl, String> {
    IssuerUrl::parse(text).map_err(|error| error.to_string())
}

/// Returns the scheme and host, and the path without a trailing slash.
fn split_origin(issuer: &str) -> (&str, &str) {
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let end = issuer[host..].find('/').map_or(issuer.len(), |at| host + at);
    (&issuer[..end], issuer[end..].trim_end_matches('/'))
}

fn read(path: &Path) -> Result<Bytes, String> {
    let mut set = Vec::new();
    // Reads one byte beyond the limit, so that the core can detect a set that is too large.
    let file = File::open(path).map(|file| Utf8Reader::new(BufReader::new(file)));
    let read = file.and_then(|file| file.take(MAX_RESPONSE_BYTES as u64 + 1).read_to_end(&mut set));
    read.map(|_| set.into()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuer_is_split_into_origin_and_path() {
        for (issuer, origin, path) in [
            ("https://id.example.com", "https://id.example.com", ""),
            ("https://id.example.com/", "https://id.example.com", ""),
            ("http://127.0.0.1:9000/realms/a", "http://127.0.0.1:9000", "/realms/a"),
            ("https://a/b/", "https://a", "/b"),
        ] {
            assert_eq!(split_origin(issuer), (origin, path), "{issuer}");
        }
    }
}
