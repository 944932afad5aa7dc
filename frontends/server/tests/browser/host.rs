//! [`Host`]: the API, its documents and the developer settings over one storage in memory, as a host application mounts them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage as _, CredentialRecord, CredentialUse, NewCredential};
use catalogue_core::auth::{Scope, Scopes};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage, SignInStorage};
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder, MountUrl, Timestamp};
use catalogue_hyper::{RequestBody, ServerConfig};
use catalogue_settings::{DEFAULT_LINK_LIFETIME, DeveloperSettings, SignInLink, SignInSettings};
use catalogue_transfer::{Options, import_text};
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower_service::Service;

use crate::page::Page;
use crate::program::get;

/// Text that would run as a script if the page did not escape it.
pub(crate) const HOSTILE: &str = "<img src=x onerror=alert(1)></pre><script>alert(2)</script>";

/// Slug of the oldest course, which must be percent-encoded exactly once.
pub(crate) const ESCAPES: &str = "100%2D & 'été'";

/// A running server with the accounts `anna`, who has five courses, and `bert`, stopped on drop.
pub(crate) struct Host {
    runtime: Runtime,
    storage: MemoryStorage,
    pub(crate) origin: String,
}

impl Host {
    pub(crate) fn start() -> Self {
        Self::start_with(|api, _| api)
    }

    /// Like [`Self::start`], but configures the API with `configure`, which gets the server's port.
    pub(crate) fn start_with(configure: impl FnOnce(CatalogueBuilder, u16) -> CatalogueBuilder) -> Self {
        let runtime = Runtime::new().unwrap();
        let storage = MemoryStorage::new();
        let port = runtime.block_on(async {
            import_text(&storage, &content(), Options::default()).await.unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let api = Catalogue::with_api_keys(storage.clone()).docs_keys_url("/settings");
            let routes = Routes::over(&storage, configure(api, port));
            tokio::spawn(catalogue_hyper::serve(listener, routes, ServerConfig::default(), std::future::pending()));
            port
        });
        Self { runtime, storage, origin: format!("http://127.0.0.1:{port}") }
    }

    /// Returns the URL of the reference page.
    pub(crate) fn docs(&self) -> String {
        format!("{}/docs", self.origin)
    }

    /// Sends a GET request without the browser. Returns the status and the body.
    pub(crate) fn get(&self, path: &str, token: &str) -> (u16, Value) {
        get(self.origin.strip_prefix("http://").unwrap(), path, token)
    }

    /// Returns the URL of the settings page at `path`, which may be empty.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}/settings{path}", self.origin)
    }

    /// Creates a sign-in link for the owner of an account.
    pub(crate) fn link(&self, account: &str) -> String {
        let url = MountUrl::parse(&self.page("")).unwrap();
        let account = Account { id: AccountId::new(account), name: school(account), email: String::new() };
        let (link, sign_in) = SignInLink::mint(&account, &url, Timestamp::now(), DEFAULT_LINK_LIFETIME);
        self.runtime.block_on(self.storage.create_link(&sign_in, &Actor::OPERATOR)).unwrap();
        link.url()
    }

    /// Opens a page in which the owner of an account is signed in.
    pub(crate) fn signed_in(&self, account: &str) -> Option<Page> {
        let mut page = Page::fresh()?;
        page.visit(&self.link(account));
        page.navigate(|page| page.press("Enter", 13));
        assert_eq!(page.evaluate("location.pathname"), "/settings");
        Some(page)
    }

    /// Creates a key as the operator after `change`, and returns its id and token.
    pub(crate) fn create_key(
        &self,
        account: &str,
        name: &str,
        change: impl FnOnce(&mut CredentialRecord),
    ) -> (String, String) {
        let scopes = Scopes::from_iter([Scope::ReadProfile, Scope::ReadCourses]);
        let (token, mut key) = NewCredential::api_key(AccountId::new(account), name, scopes);
        change(&mut key.record);
        self.runtime.block_on(self.storage.create_key(&key, &Actor::OPERATOR)).unwrap();
        (key.record.identity.credential_id.to_string(), token.expose().to_owned())
    }

    pub(crate) fn revoke(&self, account: &str, id: &str) {
        let account = AccountId::new(account);
        let revoked = self.storage.revoke_key(&account, id, Timestamp::now(), &Actor::OPERATOR);
        self.runtime.block_on(revoked).unwrap().unwrap();
    }

    /// Records a use of a key, `ago` before now.
    pub(crate) fn record_use(&self, account: &str, id: &str, ago: Duration) {
        let used = CredentialUse { account: AccountId::new(account), credential_id: id.into(), at: before(ago) };
        self.runtime.block_on(self.storage.record_uses(&[used])).unwrap();
    }

    /// Ends all links and sessions of an account, which must have at least one.
    pub(crate) fn sign_out(&self, account: &str) {
        let account = AccountId::new(account);
        assert_ne!(self.runtime.block_on(self.storage.end_sign_ins(&account, &Actor::OPERATOR)).unwrap(), 0);
    }

    /// Returns the number of keys of an account.
    pub(crate) fn count_keys(&self, account: &str) -> usize {
        let account = AccountId::new(account);
        self.runtime.block_on(self.storage.list_keys(&account, Timestamp::MAX, usize::MAX)).unwrap().unwrap().len()
    }
}

/// Returns the time `ago` before now.
pub(crate) fn before(ago: Duration) -> Timestamp {
    let ago = i64::try_from(ago.as_micros()).unwrap();
    Timestamp::from_microseconds(Timestamp::now().as_microseconds() - ago).unwrap()
}

/// Returns the name of an account, such as `School of Anna`.
fn school(account: &str) -> String {
    format!("School of {}{}", account[..1].to_uppercase(), &account[1..])
}

fn content() -> String {
    let account = |id: &str, name: &str| json!({ "type": "account", "id": id, "name": name });
    let mut lines = ["anna", "bert"].map(|id| account(id, &school(id))).to_vec();
    lines.extend((1..=5).map(|number| {
        let slug = if number == 1 { ESCAPES.to_owned() } else { format!("course-{number}") };
        let created_at = format!("2020-01-0{number}T00:00:00Z");
        json!({
            "type": "course", "account": "anna", "slug": slug, "title": HOSTILE, "language": "en",
            "createdAt": created_at,
        })
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[derive(Clone)]
struct Routes {
    settings: SignInSettings,
    catalogue: Catalogue,
}

impl Routes {
    fn over(storage: &MemoryStorage, api: CatalogueBuilder) -> Self {
        let many = || LocalRateLimiter::new(RateLimit::new(1_000_000, Duration::from_secs(60)).unwrap());
        let settings = DeveloperSettings::builder(storage.clone()).brand("Example school", "/").rate_limiter(many());
        let settings = settings.build().unwrap().with_sign_in(storage.clone()).without_tls().rate_limiter(many());
        Self { settings, catalogue: api.build().unwrap() }
    }
}

impl Service<Request<RequestBody>> for Routes {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let Self { settings, catalogue } = self.clone();
        Box::pin(async move {
            let is_settings = request.uri().path().starts_with("/settings");
            let response = if is_settings { settings.call(request).await } else { catalogue.call(request).await };
            Ok(response.map(Full::new))
        })
    }
}
