//! [`IssuerKeys`]: an issuer's key set, from where its metadata, an address or a file have it (decisions O22 and O23).

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

use crate::address::IssuerAddress;
use crate::client::{self, HttpClient, NoCertificates};
use crate::exchange::{exchange, within};

/// How long a fetch may take, with all that it asks for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer, and the longest file.
const LONGEST: usize = 256 << 10;
/// How long metadata are believed.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// Where an issuer's keys are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// Where its metadata say: those of OIDC Discovery, else of RFC 8414.
    Metadata,
    /// At that address.
    Address(IssuerAddress),
    /// In a file.
    File(PathBuf),
}

/// Fetches an issuer's keys, within a runtime of tokio. Clones are one.
#[derive(Clone, Debug)]
pub struct IssuerKeys {
    issuer: String,
    source: KeySource,
    client: HttpClient,
    /// Where its metadata said that the keys are, and when; `None` after a fetch that failed.
    found: Arc<Mutex<Option<(Instant, IssuerAddress)>>>,
}

/// A key set as it came.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchedKeys {
    /// The set, as JSON (RFC 7517).
    pub set: Bytes,
    /// The issuer's clock, where it has told it: the answer's `Date`.
    pub date: Option<String>,
}

/// What is read of metadata (OIDC Discovery, RFC 8414).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl IssuerKeys {
    /// The keys of the issuer that its tokens name so in `iss`. Nothing is asked yet.
    ///
    /// # Errors
    /// The system's certificates, which the issuer is proved by, cannot be read.
    pub fn new(issuer: &str, source: KeySource) -> Result<Self, NoCertificates> {
        let secured = match &source {
            KeySource::File(_) => false,
            KeySource::Address(address) => address.is_secured(),
            KeySource::Metadata => issuer.starts_with("https:"),
        };
        let client = client::of_issuer(secured)?;
        Ok(Self { issuer: issuer.to_owned(), source, client, found: Arc::default() })
    }

    /// What [`fetch`](FetchKeys::fetch) brings, with the issuer's clock.
    ///
    /// # Errors
    /// The issuer is away or late, or answers something else than 200 and up to 256 KiB; its metadata are of another issuer; or
    /// the file cannot be read.
    pub async fn fetch_dated(&self) -> Result<FetchedKeys, StorageError> {
        let fetched = within(PATIENCE, self.ask()).await;
        fetched.map_err(|why| {
            self.believe(None);
            StorageError::new(StorageErrorKind::Unavailable, why)
        })
    }

    async fn ask(&self) -> Result<FetchedKeys, String> {
        match &self.source {
            KeySource::Metadata => self.get(&self.jwks_uri().await?).await,
            KeySource::Address(address) => self.get(address).await,
            KeySource::File(path) => {
                let path = path.clone();
                let read = spawn_blocking(move || read(&path)).await.map_err(|error| error.to_string())?;
                read.map(|set| FetchedKeys { set, date: None })
            }
        }
    }

    /// Where the issuer's metadata say that its keys are: those of OIDC Discovery, or where its address has none that can be
    /// used, as where a server answers whatever it does not know with a page of HTML, those of RFC 8414.
    async fn jwks_uri(&self) -> Result<IssuerAddress, String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, address)) = found.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(address);
        }
        let (origin, path) = parts(&self.issuer);
        let [first, second] = [
            format!("{origin}{path}/.well-known/openid-configuration"),
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
        ];
        let address = match self.jwks_uri_at(&first).await {
            Ok(address) => address,
            Err(why) => self.jwks_uri_at(&second).await.map_err(|other| format!("{why}; {other}"))?,
        };
        self.believe(Some((Instant::now(), address.clone())));
        Ok(address)
    }

    async fn jwks_uri_at(&self, at: &str) -> Result<IssuerAddress, String> {
        let answer = self.get(&address(at)?).await?;
        self.jwks_uri_in(&answer.set).map_err(|why| format!("{at}: {why}"))
    }

    /// What metadata say, which must be this issuer's (RFC 8414 section 3.3).
    fn jwks_uri_in(&self, metadata: &[u8]) -> Result<IssuerAddress, String> {
        let read = serde_json::from_slice(metadata);
        let metadata: Metadata = read.map_err(|error| format!("the issuer's metadata cannot be read: {error}"))?;
        if metadata.issuer != self.issuer {
            return Err(format!("the metadata are of the issuer {:?}; name it as they do", metadata.issuer));
        }
        address(&metadata.jwks_uri).map_err(|error| format!("jwks_uri of the metadata: {error}"))
    }

    fn believe(&self, found: Option<(Instant, IssuerAddress)>) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    async fn get(&self, address: &IssuerAddress) -> Result<FetchedKeys, String> {
        let request = Request::get(address.uri()).header(ACCEPT, "application/json, application/jwk-set+json");
        let answer = exchange(&self.client, request, Bytes::new(), LONGEST).await;
        let (set, date) = answer.map_err(|why| format!("{address}: {why}"))?;
        Ok(FetchedKeys { set, date })
    }
}

#[async_trait]
impl FetchKeys for IssuerKeys {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        let this = self.clone();
        // It goes on while nobody polls it, else its time would run out where a request was dropped.
        let fetched = tokio::spawn(async move { this.fetch_dated().await }).await;
        let failed =
            |error| StorageError::new(StorageErrorKind::Other, "the fetch of the keys failed").with_source(error);
        Ok(fetched.map_err(failed)??.set)
    }
}

fn address(text: &str) -> Result<IssuerAddress, String> {
    IssuerAddress::parse(text).map_err(|error| error.to_string())
}

/// Scheme and host, and the path without a slash at its end.
fn parts(issuer: &str) -> (&str, &str) {
    let host = issuer.find("://").map_or(0, |at| at + 3);
    let end = issuer[host..].find('/').map_or(issuer.len(), |at| host + at);
    (&issuer[..end], issuer[end..].trim_end_matches('/'))
}

fn read(path: &Path) -> Result<Bytes, String> {
    let mut set = Vec::new();
    // One byte more, which makes a set too large.
    let file = File::open(path).map(|file| Utf8Reader::new(BufReader::new(file)));
    let read = file.and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut set));
    read.map(|_| set.into()).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_below_an_issuer_or_between_its_host_and_path() {
        for (issuer, origin, path) in [
            ("https://id.example.com", "https://id.example.com", ""),
            ("https://id.example.com/", "https://id.example.com", ""),
            ("http://127.0.0.1:9000/realms/a", "http://127.0.0.1:9000", "/realms/a"),
            ("https://a/b/", "https://a", "/b"),
        ] {
            assert_eq!(parts(issuer), (origin, path), "{issuer}");
        }
    }
}
