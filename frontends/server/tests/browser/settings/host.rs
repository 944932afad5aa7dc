//! The developer settings and the API over one storage in memory, as a host application mounts them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::admin::{Account, AdminStorage, CredentialRecord, CredentialUse, NewCredential};
use catalogue_core::auth::{Scope, Scopes};
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{Actor, KeyStorage, MemoryStorage, SignInStorage};
use catalogue_core::{AccountId, Catalogue, MountUrl, Timestamp};
use catalogue_hyper::{RequestBody, ServerConfig};
use catalogue_settings::{DEFAULT_LINK_LIFETIME, DeveloperSettings, SignInLink, SignInSettings};
use http::{Request, Response};
use http_body_util::Full;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower_service::Service;

use crate::page::Page;

/// A running server with the accounts `anna` and `bert`, stopped on drop.
pub(crate) struct Host {
    runtime: Runtime,
    pub(crate) storage: MemoryStorage,
    pub(crate) origin: String,
}

impl Host {
    pub(crate) fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let storage = MemoryStorage::new();
        let origin = runtime.block_on(async {
            let mut import = storage.begin_import().await.unwrap();
            for (id, name) in [("anna", "School of Anna"), ("bert", "School of Bert")] {
                let account = Account { id: AccountId::new(id), name: name.to_owned(), email: String::new() };
                import.put_account(&account).await.unwrap();
            }
            import.commit().await.unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let origin = format!("http://{}", listener.local_addr().unwrap());
            let config = ServerConfig::default();
            tokio::spawn(catalogue_hyper::serve(listener, Routes::over(&storage), config, std::future::pending()));
            origin
        });
        Self { runtime, storage, origin }
    }

    /// Returns the URL of the settings page at `path`, which may be empty.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}/settings{path}", self.origin)
    }

    /// Creates a sign-in link for the owner of an account.
    pub(crate) fn link(&self, account: &str) -> String {
        let url = MountUrl::parse(&self.page("")).unwrap();
        let (link, sign_in) = SignInLink::mint(AccountId::new(account), &url, Timestamp::now(), DEFAULT_LINK_LIFETIME);
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

/// Path of a page that frames the URL in the page's query.
pub(crate) const FRAMER: &str = "/framer";

fn frame<B>(request: &Request<B>) -> Bytes {
    format!("<iframe src=\"{}\"></iframe>", request.uri().query().unwrap()).into()
}

#[derive(Clone)]
struct Routes {
    settings: SignInSettings,
    catalogue: Catalogue,
}

impl Routes {
    fn over(storage: &MemoryStorage) -> Self {
        let many = || LocalRateLimiter::new(RateLimit::new(1_000_000, Duration::from_secs(60)).unwrap());
        let settings = DeveloperSettings::builder(storage.clone()).brand("Example school", "/").rate_limiter(many());
        let settings = settings.build().unwrap().with_sign_in(storage.clone()).without_tls().rate_limiter(many());
        let catalogue = Catalogue::with_api_keys(storage.clone()).docs_keys_url("/settings").build().unwrap();
        Self { settings, catalogue }
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
            let response = match request.uri().path() {
                FRAMER => Response::builder().header("content-type", "text/html").body(frame(&request)).unwrap(),
                path if path.starts_with("/settings") => settings.call(request).await,
                _ => catalogue.call(request).await,
            };
            Ok(response.map(Full::new))
        })
    }
}
