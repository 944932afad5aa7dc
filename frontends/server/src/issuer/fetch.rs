//! [`IssuersKeys`]: an issuer's key set, from where its metadata, an option or a file have it (decisions O22 and O23).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use catalogue_core::async_trait;
use catalogue_core::auth::signed::FetchKeys;
use catalogue_core::storage::{StorageError, StorageErrorKind};
use http::header::{ACCEPT, DATE, USER_AGENT};
use http::request::Builder;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use serde::Deserialize;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::KeySource;
use super::options::address;
use crate::client::HttpClient;
use crate::exit::chain;

/// How long a fetch may take, with all that it asks for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest answer, and the longest file.
const LONGEST: usize = 256 << 10;
/// How long metadata are believed.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// Fetches an issuer's keys.
#[derive(Debug)]
pub(crate) struct IssuersKeys {
    issuer: String,
    source: KeySource,
    client: HttpClient,
    /// Where its metadata said that the keys are, and when; `None` after a fetch that failed.
    found: Mutex<Option<(Instant, Uri)>>,
}

/// An answer as it came.
pub(super) struct Answer {
    pub(super) body: Bytes,
    /// The issuer's clock, where it has told it.
    pub(super) date: Option<String>,
}

/// What is read of metadata (OIDC Discovery, RFC 8414).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl IssuersKeys {
    pub(super) fn new(issuer: &str, source: KeySource, client: HttpClient) -> Self {
        Self { issuer: issuer.to_owned(), source, client, found: Mutex::default() }
    }

    /// The key set, or why there is none.
    pub(super) async fn answer(&self) -> Result<Answer, String> {
        let answer = timeout(PATIENCE, self.ask()).await;
        let answer = answer.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}")));
        if answer.is_err() {
            self.believe(None);
        }
        answer
    }

    async fn ask(&self) -> Result<Answer, String> {
        match &self.source {
            KeySource::Metadata => self.get(&self.jwks_uri().await?).await,
            KeySource::Address(uri) => self.get(uri).await,
            KeySource::File(path) => {
                let path = path.clone();
                let read = spawn_blocking(move || read(&path)).await.map_err(|error| error.to_string())?;
                read.map(|body| Answer { body, date: None })
            }
        }
    }

    /// Where the issuer's metadata say that its keys are. Those of RFC 8414 stand for those of OIDC Discovery.
    async fn jwks_uri(&self) -> Result<Uri, String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, uri)) = found.filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(uri);
        }
        let (origin, path) = parts(&self.issuer);
        let [first, second] = [
            format!("{origin}{path}/.well-known/openid-configuration"),
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
        ];
        let answer = match self.get(&address(&first)?).await {
            Ok(answer) => answer,
            Err(why) => self.get(&address(&second)?).await.map_err(|other| format!("{why}; {other}"))?,
        };
        let read = serde_json::from_slice(&answer.body);
        let metadata: Metadata = read.map_err(|error| format!("the issuer's metadata cannot be read: {error}"))?;
        if metadata.issuer != self.issuer {
            return Err(format!("the metadata are of the issuer {:?}; name it as they do", metadata.issuer));
        }
        let uri = address(&metadata.jwks_uri).map_err(|error| format!("jwks_uri of the metadata: {error}"))?;
        self.believe(Some((Instant::now(), uri.clone())));
        Ok(uri)
    }

    fn believe(&self, found: Option<(Instant, Uri)>) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    async fn get(&self, uri: &Uri) -> Result<Answer, String> {
        let request = Request::get(uri).header(ACCEPT, "application/json, application/jwk-set+json");
        exchange(&self.client, request, Bytes::new()).await.map_err(|why| format!("{uri}: {why}"))
    }
}

/// The answer to a request, whose address was read before. Its status must be 200.
pub(super) async fn exchange(client: &HttpClient, request: Builder, body: Bytes) -> Result<Answer, String> {
    let request = request.header(USER_AGENT, concat!("catalogue/", env!("CARGO_PKG_VERSION")));
    let request = request.body(Full::new(body)).expect("the address was read before");
    let response = client.request(request).await.map_err(|error| chain(&error))?;
    if response.status() != StatusCode::OK {
        return Err(format!("the answer was {}", response.status()));
    }
    let date = response.headers().get(DATE).and_then(|date| Some(date.to_str().ok()?.to_owned()));
    let body = Limited::new(response.into_body(), LONGEST).collect().await.map_err(|error| chain(&*error))?;
    Ok(Answer { body: body.to_bytes(), date })
}

#[async_trait]
impl FetchKeys for IssuersKeys {
    async fn fetch(&self) -> Result<Bytes, StorageError> {
        let answer = self.answer().await.map_err(|why| StorageError::new(StorageErrorKind::Unavailable, why))?;
        Ok(answer.body)
    }
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
    let read = File::open(path).and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut set));
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
