//! [`Caller`]: who asks the API, and [`Work`]: for what.

use bytes::Bytes;
use catalogue_core::{Catalogue, CatalogueBuilder, ClientAddress};
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Request, Response, StatusCode};

use crate::courses::course;
use crate::library::{Library, now};

/// Someone with a key who asks a catalogue.
#[derive(Debug)]
pub struct Caller {
    catalogue: Catalogue,
    authorization: HeaderValue,
    client: Option<ClientAddress>,
}

/// What is asked of the API: the rows of most tables here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The first page of fifty.
    FirstPage,
    /// The page of fifty nine tenths of the way down.
    DeepPage,
    /// One course with its modules.
    Detail,
    /// Who the caller is.
    Me,
    /// The first page by someone who has it already.
    NotModified,
    /// The first page, compressed.
    Gzip,
}

impl Work {
    /// Every work.
    pub const ALL: [Self; 6] = [Self::FirstPage, Self::DeepPage, Self::Detail, Self::Me, Self::NotModified, Self::Gzip];

    /// The work of that name; a hyphen is as good as a blank.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name.replace('-', " "))
    }

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstPage => "first page",
            Self::DeepPage => "deep page",
            Self::Detail => "detail",
            Self::Me => "me",
            Self::NotModified => "304",
            Self::Gzip => "gzip page",
        }
    }
}

impl Caller {
    /// A caller of that catalogue with that token.
    ///
    /// # Panics
    /// When the builder's settings cannot be.
    #[must_use]
    pub fn new(builder: CatalogueBuilder, token: &str) -> Self {
        let catalogue = builder.build().expect("the settings are right");
        Self { catalogue, authorization: authorization(token), client: None }
    }

    /// The same caller, whose requests say where they come from.
    #[must_use]
    pub fn at(self, client: ClientAddress) -> Self {
        Self { client: Some(client), ..self }
    }

    /// The catalogue.
    #[must_use]
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The request for `target` with the key.
    ///
    /// # Panics
    /// When `target` is none.
    #[must_use]
    pub fn request(&self, target: &str) -> Request<()> {
        let mut request = Request::get(target).header(AUTHORIZATION, &self.authorization);
        if let Some(client) = self.client {
            request = request.extension(client);
        }
        request.body(()).expect("a request")
    }

    /// The request for that work on a library of so many courses.
    ///
    /// # Panics
    /// When the catalogue fails.
    #[must_use]
    pub fn request_for(&self, work: Work, courses: usize) -> Request<()> {
        match work {
            Work::FirstPage => self.request("/api/v1/courses"),
            Work::DeepPage => self.request(&self.page_after(courses / 10 * 9)),
            Work::Detail => {
                let slug = course(&Library::account(), courses / 2).slug;
                self.request(&format!("/api/v1/courses/{slug}"))
            }
            Work::Me => self.request("/api/v1/me"),
            Work::NotModified => {
                let mut request = self.request("/api/v1/courses");
                let tag = self.send(&request).headers()[ETAG].clone();
                request.headers_mut().insert(IF_NONE_MATCH, tag);
                request
            }
            Work::Gzip => {
                let mut request = self.request("/api/v1/courses");
                request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"));
                request
            }
        }
    }

    /// The answer to a request.
    #[must_use]
    pub fn send(&self, request: &Request<()>) -> Response<Bytes> {
        now(self.catalogue.call(request.clone()))
    }

    /// The address of the page of fifty after the newest `depth` courses, a multiple of 100.
    ///
    /// # Panics
    /// When the list ends before.
    #[must_use]
    pub fn page_after(&self, depth: usize) -> String {
        let mut cursor = String::new();
        for _ in 0..depth / 100 {
            let response = self.send(&self.request(&format!("/api/v1/courses?limit=100{cursor}")));
            assert_eq!(response.status(), StatusCode::OK);
            let page: serde_json::Value = serde_json::from_slice(response.body()).expect("an envelope");
            cursor = format!("&cursor={}", page["meta"]["nextCursor"].as_str().expect("a further page"));
        }
        format!("/api/v1/courses?limit=50{cursor}")
    }
}

/// The header that carries a token.
fn authorization(token: &str) -> HeaderValue {
    HeaderValue::try_from(format!("Bearer {token}")).expect("a token is visible ASCII")
}
