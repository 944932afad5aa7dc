//! Shared fixture: a catalogue with accounts, courses and credentials, and short ways to send requests.

use std::io::Read as _;

use bytes::Bytes;
use catalogue_core::admin::{AdminStorage, NewCredential};
use catalogue_core::auth::{CredentialKind, Scopes};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, Course, CourseModule, Timestamp};
use catalogue_storage_conformance::sample;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::Value;

use crate::contract::assert_fits;

/// Base URL of the catalogue, unless a test sets another.
pub(crate) const BASE: &str = "/api/v1";
pub(crate) const DOCS: &str = "/docs";

/// The body of every module; no response may contain it.
pub(crate) const BODY: &str = "the body of a module, only for paying clients";

/// The owner of most courses in these tests.
pub(crate) const OWNER: &str = "acc_owner";
/// Another account, whose courses [`OWNER`] must not see.
pub(crate) const OTHER: &str = "acc_other";

/// A storage with both accounts, and a catalogue over it.
pub(crate) struct TestApp {
    pub(crate) storage: MemoryStorage,
    pub(crate) catalogue: Catalogue,
    /// Path of the base URL.
    base: String,
}

/// A response in parts.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    /// Creates an app at the usual URLs, whose builder `settings` changes.
    pub(crate) async fn with(settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Self {
        Self::build(BASE, settings).await
    }

    /// Creates an app at `base_url`, with its documents at `docs_url`.
    pub(crate) async fn at(base_url: &str, docs_url: &str) -> Self {
        let (_, after_scheme) = base_url.split_once("://").unwrap_or_default();
        let base = after_scheme.find('/').map_or(base_url, |path| &after_scheme[path..]);
        Self::build(base, |builder| builder.base_url(base_url).docs_url(docs_url)).await
    }

    /// Creates an app with courses, and a key of [`OWNER`] for courses.
    pub(crate) async fn with_courses(courses: impl IntoIterator<Item = Course>) -> (Self, String) {
        let app = Self::new().await;
        app.put(courses).await;
        let token = app.key(OWNER, "read:courses").await;
        (app, token)
    }

    async fn build(base: &str, settings: impl FnOnce(CatalogueBuilder) -> CatalogueBuilder) -> Self {
        let storage = MemoryStorage::new();
        let mut import = storage.begin_import().await.unwrap();
        for id in [OWNER, OTHER] {
            import.put_account(&sample::account(id)).await.unwrap();
        }
        import.commit().await.unwrap();
        let catalogue = settings(Catalogue::with_api_keys(storage.clone())).build().unwrap();
        let app = Self { storage, catalogue, base: base.trim_end_matches('/').to_owned() };
        // With a wrong `base`, `send` would compare no response with an operation of the document.
        let stranger = app.send(Method::GET, &format!("{}/me", app.base), &[]).await;
        assert_ne!(stranger.status, StatusCode::NOT_FOUND, "the app is not mounted at {base}");
        app
    }

    pub(crate) async fn put(&self, courses: impl IntoIterator<Item = Course>) {
        let mut import = self.storage.begin_import().await.unwrap();
        for course in courses {
            import.put_course(&course).await.unwrap();
        }
        import.commit().await.unwrap();
    }

    /// Creates an API key of `account` with `scopes`.
    pub(crate) async fn key(&self, account: &str, scopes: &str) -> String {
        self.credential(CredentialKind::ApiKey, account, scopes, None).await.0
    }

    /// Creates a credential, and returns its token and the id of its record.
    pub(crate) async fn credential(
        &self,
        kind: CredentialKind,
        account: &str,
        scopes: &str,
        expires_at: Option<Timestamp>,
    ) -> (String, String) {
        let (account, scopes) = (AccountId::new(account), Scopes::from_names([scopes]));
        let (token, mut credential) = match kind {
            CredentialKind::OAuth => NewCredential::oauth_token(account, scopes),
            _ => NewCredential::api_key(account, "a key", scopes),
        };
        credential.record.expires_at = expires_at;
        self.storage.create_key(&credential, &Actor::OPERATOR).await.unwrap();
        let id = credential.record.identity.credential_id;
        (token.expose().to_owned(), id.to_string())
    }

    /// Revokes a credential of [`OWNER`].
    pub(crate) async fn revoke(&self, id: &str) {
        let revoked = self.storage.revoke_key(&OWNER.into(), id, Timestamp::now(), &Actor::OPERATOR).await;
        revoked.unwrap().unwrap();
    }

    /// Sends a GET request with a token.
    pub(crate) async fn get(&self, token: &str, target: &str) -> TestResponse {
        self.send(Method::GET, target, &[("authorization", &format!("Bearer {token}"))]).await
    }

    /// Sends a GET request with a token and the entity tags of `If-None-Match`.
    pub(crate) async fn revalidate(&self, token: &str, target: &str, tags: &str) -> TestResponse {
        let bearer = format!("Bearer {token}");
        self.send(Method::GET, target, &[("authorization", &bearer), ("if-none-match", tags)]).await
    }

    pub(crate) async fn send(&self, method: Method, target: &str, headers: &[(&str, &str)]) -> TestResponse {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        send(&self.catalogue, &self.base, request.body(()).unwrap()).await
    }
}

/// Sends a request to a catalogue whose base URL has the path `base`, and checks the response against the document.
pub(crate) async fn send(catalogue: &Catalogue, base: &str, request: Request<()>) -> TestResponse {
    let (method, target) = (request.method().clone(), request.uri().clone());
    let response = TestResponse::from(catalogue.call(request).await);
    assert_fits(base, &method, &target, &response);
    response
}

impl From<Response<Bytes>> for TestResponse {
    fn from(response: Response<Bytes>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status, headers: parts.headers, body }
    }
}

impl TestResponse {
    /// Returns the body without its content coding.
    pub(crate) fn decoded(&self) -> Bytes {
        let mut plain = Vec::new();
        match self.header("content-encoding") {
            None => return self.body.clone(),
            Some("gzip") => {
                flate2::read::GzDecoder::new(&*self.body).read_to_end(&mut plain).unwrap();
            }
            Some(other) => panic!("unknown content coding {other}"),
        }
        plain.into()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the value of a header, which may occur only once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().unwrap();
        assert!(values.next().is_none(), "{name} is repeated");
        Some(value)
    }

    /// Returns the URL of the next page.
    pub(crate) fn next_page(&self) -> Option<String> {
        let (url, _) = self.header("link")?.strip_prefix('<')?.split_once(">; rel=\"next\"")?;
        Some(url.to_owned())
    }

    /// Asserts a failure with `status` and `code` in the envelope of section 2.6, and returns its details.
    #[track_caller]
    pub(crate) fn failure(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        let json = self.json();
        let error = json["error"].as_object().unwrap();
        assert_eq!(json.as_object().unwrap().len(), 1);
        assert!(error.keys().all(|key| ["code", "message", "details"].contains(&key.as_str())), "{json}");
        assert_eq!(error["code"], code);
        assert!(error["message"].as_str().unwrap().ends_with('.'), "{json}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert_eq!(self.header("etag"), None);
        error.get("details").cloned().unwrap_or_default()
    }

    /// Asserts a 200 in the success envelope and returns its `data`.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()["data"].clone()
    }
}

/// Returns the slugs of all pages of a list, which `get` requests by the links of the pages before.
pub(crate) async fn follow_links(start: &str, get: impl AsyncFn(String) -> TestResponse) -> Vec<String> {
    let (mut slugs, mut target) = (Vec::new(), Some(start.to_owned()));
    while let Some(url) = target {
        let page = get(url).await;
        slugs.extend(page.data().as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()));
        target = page.next_page();
    }
    slugs
}

/// Returns a course of [`OWNER`], created `second` seconds after a fixed instant.
pub(crate) fn course(slug: &str, second: i64) -> Course {
    Course {
        tagline: "A tagline".to_owned(),
        created_at: Timestamp::from_microseconds(1_700_000_000_000_000 + second * 1_000_000).unwrap(),
        published_at: Some(Timestamp::parse("2026-01-02T03:04:05.678901Z").unwrap()),
        access_mode: Some("free".to_owned()),
        modules: vec![module("First"), module("Second")],
        ..sample::course(OWNER, slug)
    }
}

pub(crate) fn module(title: &str) -> CourseModule {
    CourseModule { title: title.to_owned(), summary: format!("About {title}"), content: BODY.to_owned() }
}

/// Returns `course` as a course of [`OTHER`].
pub(crate) fn for_other(course: Course) -> Course {
    Course { account: AccountId::new(OTHER), ..course }
}
