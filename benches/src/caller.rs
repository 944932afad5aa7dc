//! [`Caller`]: calls a catalogue without a socket. [`Call`]: the kind of a call.

use bytes::Bytes;
use catalogue_core::auth::signed::SignedTokens;
use catalogue_core::{AccountId, Catalogue, CatalogueBuilder};
use clap::ValueEnum;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Request, Response, StatusCode};

use crate::courses::course;
use crate::issuer::Issuer;
use crate::library::block_on;

/// Calls a catalogue with a credential.
#[derive(Debug)]
pub struct Caller {
    catalogue: Catalogue,
    authorization: HeaderValue,
}

/// Kind of a call of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Call {
    /// The first page of fifty
    FirstPage,
    /// The page of fifty at 90 % of the list
    DeepPage,
    /// One course with its modules
    Detail,
    /// The caller's account
    Me,
    /// The first page, with its ETag (304)
    #[value(name = "304")]
    NotModified,
    /// The first page, compressed
    GzipPage,
}

impl Call {
    /// All kinds of calls.
    pub const ALL: [Self; 6] =
        [Self::FirstPage, Self::DeepPage, Self::Detail, Self::Me, Self::NotModified, Self::GzipPage];

    /// Returns the name of the call on a command line and in tables.
    pub fn name(self) -> String {
        self.to_possible_value().expect("no variant is skipped").get_name().to_owned()
    }
}

impl Caller {
    /// Creates a caller with `token`, of the catalogue that `builder` builds.
    pub fn new(builder: CatalogueBuilder, token: &str) -> Self {
        let catalogue = builder.build().expect("valid settings");
        let authorization = HeaderValue::try_from(format!("Bearer {token}")).expect("a token is visible ASCII");
        Self { catalogue, authorization }
    }

    /// Creates a caller with a signed token for `account` (ES256).
    pub fn signed(builder: CatalogueBuilder, account: &AccountId) -> Self {
        let issuer = Issuer::new();
        let tokens = SignedTokens::builder(Issuer::NAME, Issuer::AUDIENCE, Bytes::from(issuer.key_set()));
        let tokens = tokens.account_claim("account").build().expect("valid settings");
        Self::new(builder.or_authenticator(tokens), &issuer.token(account, 0))
    }

    /// Returns the catalogue.
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn request(&self, target: &str) -> Request<()> {
        Request::get(target).header(AUTHORIZATION, &self.authorization).body(()).expect("a request")
    }

    /// Returns the request of `call`, for an account with `courses` generated courses.
    pub fn request_for(&self, call: Call, courses: usize) -> Result<Request<()>, String> {
        let first_page = "/api/v1/courses";
        let mut request = match call {
            Call::FirstPage | Call::NotModified | Call::GzipPage => self.request(first_page),
            Call::DeepPage => self.request(&self.page_after(courses / 10 * 9)?),
            Call::Detail => {
                let slug = course(&AccountId::new("any"), courses / 2).slug;
                self.request(&format!("{first_page}/{slug}"))
            }
            Call::Me => self.request("/api/v1/me"),
        };
        let (response, fields) = (self.response(&request)?, request.headers_mut());
        match call {
            Call::NotModified => drop(fields.insert(IF_NONE_MATCH, response.headers()[ETAG].clone())),
            Call::GzipPage => drop(fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, deflate, br, zstd"))),
            _ => {}
        }
        Ok(request)
    }

    /// Sends a request and returns the response.
    pub fn send(&self, request: &Request<()>) -> Response<Bytes> {
        block_on(self.catalogue.call(request.clone()))
    }

    fn response(&self, request: &Request<()>) -> Result<Response<Bytes>, String> {
        let response = self.send(request);
        match response.status() {
            StatusCode::OK => Ok(response),
            status => Err(format!("{} returned {status} instead of 200", request.uri())),
        }
    }

    /// Returns the URL of the page of fifty after the newest `depth` courses; `depth` is a multiple of 100.
    pub fn page_after(&self, depth: usize) -> Result<String, String> {
        let mut cursor = String::new();
        for offset in (0..depth).step_by(100) {
            let response = self.response(&self.request(&format!("/api/v1/courses?limit=100{cursor}")))?;
            cursor =
                next_cursor(response.body()).ok_or_else(|| format!("the list ends before {} courses", offset + 100))?;
        }
        Ok(format!("/api/v1/courses?limit=50{cursor}"))
    }
}

/// Returns the cursor of the next page, as a query parameter.
pub fn next_cursor(page: &[u8]) -> Option<String> {
    let page: serde_json::Value = serde_json::from_slice(page).ok()?;
    Some(format!("&cursor={}", page["meta"]["nextCursor"].as_str()?))
}
