//! [`CatalogueBuilder`]: assembles a [`Catalogue`].

use std::sync::Arc;

use super::{Catalogue, Inner};
use crate::auth::Authenticator;
use crate::build_error::BuildError;
use crate::cors::AllowedOrigins;
use crate::documents::about::About;
use crate::in_flight::InFlight;
use crate::limit::{Enforcer, RateLimiter};
use crate::model::CredentialKind;
use crate::mount::Mount;
use crate::mount_url::MountUrl;
use crate::observe::Observer;
use crate::request_id::RequestIds;
use crate::response::Responder;
use crate::storage::{CourseStorage, CredentialStorage};

/// Default capacity of the page cache in bytes.
const DEFAULT_PAGE_CACHE: usize = 64 << 20;

/// Builder of a [`Catalogue`]. Its constructors take what every catalogue needs; each other setting has a default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct CatalogueBuilder {
    courses: Arc<dyn CourseStorage>,
    credentials: Option<Arc<dyn CredentialStorage>>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    base_url: String,
    docs_url: String,
    about: About,
    serve_root: bool,
    accepted: Vec<CredentialKind>,
    origins: Vec<String>,
    max_in_flight: usize,
    page_cache: usize,
    rate_limiter: Option<Arc<dyn RateLimiter>>,
    observer: Option<Arc<dyn Observer>>,
}

impl Catalogue {
    /// Creates a builder for a catalogue of `courses`, for the callers that `authenticator` knows.
    pub fn builder(courses: impl CourseStorage, authenticator: impl Authenticator) -> CatalogueBuilder {
        CatalogueBuilder::with_courses(Arc::new(courses)).or_authenticator(authenticator)
    }

    /// Creates a builder for a catalogue over one storage that holds both the courses and the credentials: API keys and
    /// opaque OAuth tokens.
    pub fn with_api_keys(storage: impl CourseStorage + CredentialStorage) -> CatalogueBuilder {
        let storage = Arc::new(storage);
        CatalogueBuilder { credentials: Some(storage.clone()), ..CatalogueBuilder::with_courses(storage) }
    }
}

impl CatalogueBuilder {
    fn with_courses(courses: Arc<dyn CourseStorage>) -> Self {
        Self {
            courses,
            credentials: None,
            authenticators: Vec::new(),
            base_url: "/api/v1".to_owned(),
            docs_url: "/docs".to_owned(),
            about: About::default(),
            serve_root: false,
            accepted: CredentialKind::ALL.to_vec(),
            origins: Vec::new(),
            max_in_flight: usize::MAX,
            page_cache: DEFAULT_PAGE_CACHE,
            rate_limiter: None,
            observer: None,
        }
    }

    /// Sets where the API is mounted: a URL such as `https://api.example.com/api/v1`, or only its path. Default:
    /// `/api/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Sets where the public documents are mounted. Default: `/docs`.
    pub fn docs_url(mut self, docs_url: impl Into<String>) -> Self {
        self.docs_url = docs_url.into();
        self
    }

    /// Sets the title of the documents. Default: `Course Catalogue Read API`.
    pub fn docs_title(mut self, title: impl Into<String>) -> Self {
        self.about.title = Some(title.into());
        self
    }

    /// Sets the contact for callers' questions: a mailbox or the URL of a page. By default, no text names one.
    pub fn docs_contact(mut self, contact: impl Into<String>) -> Self {
        self.about.contact = Some(contact.into());
        self
    }

    /// Sets where the owners of accounts create API keys: the URL of a page, or only its path. Default: the
    /// [developer settings](Self::settings_url); without those, no text names a page.
    pub fn docs_keys_url(mut self, url: impl Into<String>) -> Self {
        self.about.keys_url = Some(url.into());
        self
    }

    /// Sets where the developer settings are mounted: a URL such as `https://api.example.com/settings`, or only its path.
    /// The documents link to them as the place where keys are created, and nothing else changes: the catalogue does not
    /// serve them. Default: none.
    pub fn settings_url(mut self, settings_url: impl Into<String>) -> Self {
        self.about.settings_url = Some(settings_url.into());
        self
    }

    /// Names an authorization server in the metadata of RFC 9728, to which each challenge links (decision O33). May be called
    /// several times. The base URL must be absolute. A framework must route the path of the metadata to the catalogue too:
    /// `/.well-known/oauth-protected-resource`, followed by the path of the base URL.
    #[cfg(feature = "oauth")]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.about.authorization_servers.push(issuer.into());
        self
    }

    /// Serves the server's root too (decision R12): a browser that requests `/` is redirected to the reference page,
    /// and `/llms.txt` exists as well. By default, the root is the host application's.
    pub fn serve_root(mut self) -> Self {
        self.serve_root = true;
        self
    }

    /// Adds `authenticator`, which is called for the tokens that the authenticators before it do not recognize.
    pub fn or_authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticators.push(Arc::new(authenticator));
        self
    }

    /// Sets the kinds of credential that may read courses (decision A5). Default: API keys and OAuth tokens. A
    /// [session](crate::auth::Identity::session) needs only the scope, because the host application vouches for it.
    pub fn accept(mut self, kinds: impl IntoIterator<Item = CredentialKind>) -> Self {
        self.accepted = kinds.into_iter().collect();
        self
    }

    /// Sets the origins whose scripts may call the API (decision A17). Default: none.
    pub fn cors_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the maximum number of requests in flight; further ones get a 429 immediately, whatever they request
    /// (decision A21). With 0, every request gets a 429. Default: unlimited.
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets the capacity of the page cache in bytes; with 0, no response is cached. Default: 64 MiB.
    ///
    /// Courses are cached under their account's revision, so they are never stale. If the storage has no revisions, its
    /// courses are not cached.
    pub fn page_cache(mut self, bytes: usize) -> Self {
        self.page_cache = bytes;
        self
    }

    /// Limits the requests of each credential, and the unknown tokens of each
    /// [`ClientAddress`](crate::limit::ClientAddress) that comes with a request (decision A2). Default: no limit.
    ///
    /// A request costs nothing if it is refused for its path, method, token, scope or parameters, or if it gets a 304 that
    /// needed no rendering. With a storage without revisions, a 304 for courses costs as much as a full response. A request
    /// with `If-None-Match: *` always costs as much, and HEAD costs as much as GET.
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.rate_limiter = Some(Arc::new(limiter));
        self
    }

    /// Calls `observer` after each finished request, for metrics and logs. Replaces an earlier one: pass a pair, whose
    /// parts can be pairs, for several. Default: none.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Builds the catalogue.
    ///
    /// # Errors
    /// Returns an error if a setting is invalid, or if two contradict each other.
    pub fn build(self) -> Result<Catalogue, BuildError> {
        let docs = MountUrl::parse(&self.docs_url).map_err(BuildError::DocsUrl)?;
        self.about.check()?;
        if !self.about.authorization_servers.is_empty() && self.base_url.starts_with('/') {
            return Err(BuildError::RelativeBaseUrl(self.base_url));
        }
        let about = self.about.with_issuers(self.authenticators.iter().filter_map(|one| one.issuer_and_audience()));
        let mount = Arc::new(Mount::at(&self.base_url, docs, self.serve_root, about)?);
        if self.accepted.is_empty() {
            return Err(BuildError::NoCredentialsAccepted);
        }
        Ok(Catalogue(Arc::new(Inner {
            mount,
            responder: Responder::new(self.courses, self.page_cache),
            credentials: self.credentials,
            authenticators: self.authenticators,
            accepted: self.accepted,
            origins: AllowedOrigins::new(&self.origins)?,
            request_ids: Arc::new(RequestIds::default()),
            identify: None,
            in_flight: Arc::new(InFlight::new(self.max_in_flight)),
            enforcer: self.rate_limiter.map(Enforcer::new).map(Arc::new),
            observer: self.observer,
        })))
    }
}
