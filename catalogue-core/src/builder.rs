//! [`CatalogueBuilder`]: putting a [`Catalogue`] together.

use std::sync::Arc;

use crate::address::{Address, AddressError};
use crate::auth::{Authenticator, CredentialKind};
use crate::catalogue::{Catalogue, Parts};
use crate::cors::AllowedOrigins;
use crate::documents::Documents;
use crate::in_flight::InFlight;
use crate::limit::{Limits, RateLimiter};
use crate::observer::Observer;
use crate::page_cache::PageCache;
use crate::rendering::Rendering;
use crate::request_id::RequestIds;
use crate::route::Router;
use crate::storage::{CourseStorage, CredentialStorage};

/// How many bytes rendered answers may take up by default.
const DEFAULT_PAGE_CACHE: usize = 64 << 20;

/// Puts a [`Catalogue`] together. What it cannot do without, it is made with; all else has a default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct CatalogueBuilder {
    courses: Arc<dyn CourseStorage>,
    credentials: Option<Arc<dyn CredentialStorage>>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    base_url: String,
    docs_url: String,
    accepted: Vec<CredentialKind>,
    origins: Vec<String>,
    max_in_flight: usize,
    page_cache: usize,
    rate_limiter: Option<Arc<dyn RateLimiter>>,
    observer: Option<Arc<dyn Observer>>,
}

/// Why a catalogue cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base address is not an address to mount at.
    #[error("the base address {0}")]
    BaseUrl(AddressError),
    /// The documents' address is not an address to mount at.
    #[error("the documents' address {0}")]
    DocsUrl(AddressError),
    /// The two addresses have the same path.
    #[error("the base address and the documents' address have the same path {0:?}; give each its own")]
    SamePath(String),
    /// A document would stand where an operation is.
    #[error("the document at {document:?} would hide the operation {operation}; move the documents' address elsewhere")]
    Collision {
        /// The document's path.
        document: String,
        /// The operation's name.
        operation: &'static str,
    },
    /// No kind of credential is accepted.
    #[error("no kind of credential is accepted, so nobody could read a course; accept one at least")]
    NothingAccepted,
    /// A text is not an origin as browsers write it.
    #[error(
        "{0:?} is not an origin; write a scheme, a host and a port where it is not the usual one, like https://app.example.com"
    )]
    Origin(String),
}

impl CatalogueBuilder {
    pub(crate) fn new(courses: impl CourseStorage, authenticator: impl Authenticator) -> Self {
        Self::over(Arc::new(courses)).or_authenticator(authenticator)
    }

    pub(crate) fn with_api_keys(storage: impl CourseStorage + CredentialStorage) -> Self {
        let storage = Arc::new(storage);
        Self { credentials: Some(storage.clone()), ..Self::over(storage) }
    }

    fn over(courses: Arc<dyn CourseStorage>) -> Self {
        Self {
            courses,
            credentials: None,
            authenticators: Vec::new(),
            base_url: "/api/v1".to_owned(),
            docs_url: "/docs".to_owned(),
            accepted: CredentialKind::ALL.to_vec(),
            origins: Vec::new(),
            max_in_flight: usize::MAX,
            page_cache: DEFAULT_PAGE_CACHE,
            rate_limiter: None,
            observer: None,
        }
    }

    /// Where the API is mounted: an address such as `https://api.example.com/api/v1`, or its path alone. Default
    /// `/api/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Where the public documents are mounted. Default `/docs`.
    pub fn docs_url(mut self, docs_url: impl Into<String>) -> Self {
        self.docs_url = docs_url.into();
        self
    }

    /// Asks `authenticator` about the tokens that those before it do not know.
    pub fn or_authenticator(mut self, authenticator: impl Authenticator) -> Self {
        self.authenticators.push(Arc::new(authenticator));
        self
    }

    /// The kinds of credential that may read courses (decision A5). Default all.
    pub fn accept(mut self, kinds: impl IntoIterator<Item = CredentialKind>) -> Self {
        self.accepted = kinds.into_iter().collect();
        self
    }

    /// The origins whose scripts may call the API (decision A17). Default none.
    pub fn cors_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// How many requests may be in flight at the same time; further ones are answered 429 at once, whatever they ask for
    /// (decision A21); with 0 every one is. Default any number.
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// How many bytes rendered answers may take up; 0 renders every answer. Default 64 MiB.
    ///
    /// An answer is kept under its account's revision, so it is never stale; a storage without revisions has none kept.
    pub fn page_cache(mut self, bytes: usize) -> Self {
        self.page_cache = bytes;
        self
    }

    /// Limits the requests of each credential, and the unknown tokens of each [`ClientAddress`](crate::ClientAddress) that
    /// comes with a request (decision A2). Default no limit.
    ///
    /// What an operation answers with 304 costs nothing, nor does what is refused before it is counted: a wrong path, method,
    /// token, scope or parameter. HEAD costs as GET does.
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.rate_limiter = Some(Arc::new(limiter));
        self
    }

    /// Is told of each finished request, for metrics and logs. Default nobody.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The catalogue.
    ///
    /// # Errors
    /// When the settings contradict each other or cannot be.
    pub fn build(self) -> Result<Catalogue, BuildError> {
        let router = Router {
            base: Address::parse(&self.base_url).map_err(BuildError::BaseUrl)?,
            docs: Address::parse(&self.docs_url).map_err(BuildError::DocsUrl)?,
        };
        if router.base.path() == router.docs.path() {
            return Err(BuildError::SamePath(router.base.path().to_owned()));
        }
        if let Some((document, operation)) = router.collision() {
            let document = format!("{}{}", router.docs.path(), document.path());
            return Err(BuildError::Collision { document, operation: operation.id() });
        }
        if self.accepted.is_empty() {
            return Err(BuildError::NothingAccepted);
        }
        let mut origins = AllowedOrigins::default();
        if let Some(bad) = self.origins.iter().find(|origin| !origins.allow(origin)) {
            return Err(BuildError::Origin(bad.clone()));
        }
        Ok(Catalogue::assemble(Parts {
            documents: Documents::render(&router),
            rendering: Rendering::of_this_build(&router.base),
            router,
            courses: self.courses,
            credentials: self.credentials,
            authenticators: self.authenticators,
            accepted: self.accepted,
            origins,
            request_ids: RequestIds::default(),
            in_flight: InFlight::new(self.max_in_flight),
            page_cache: PageCache::new(self.page_cache),
            limits: self.rate_limiter.map(Limits::new),
            observer: self.observer,
        }))
    }
}
