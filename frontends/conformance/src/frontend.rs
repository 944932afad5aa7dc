//! [`Frontend`]: a server, and the catalogue that it serves.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::time::Duration;

use catalogue_core::Catalogue;

use crate::deviations::Deviation;
use crate::response::Response;
use crate::seed::{BASE, DOCS, ORIGIN, Seed};
use crate::server::Server;
use crate::test_request::TestRequest;
use crate::wire;

/// Timeout for a response.
const DEADLINE: Duration = Duration::from_secs(30);
/// Timeout after which a server that was declared not to respond passes. Short, because each such request waits for it.
const NO_RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Protocol of the requests to a server.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    Http2,
}

/// A frontend under test by one case: its server, and the catalogue that it serves. [`tests!`](crate::tests) creates one
/// for each case.
#[derive(Debug)]
pub struct Frontend {
    case: &'static str,
    protocol: Protocol,
    server: Server,
    pub(crate) seed: Seed,
    /// Number of requests that the case has sent.
    request_count: Cell<usize>,
}

/// A case that runs, of one type for all cases, so that [`run`] is compiled once for a suite.
#[doc(hidden)]
pub type CaseFuture<'f> = Pin<Box<dyn Future<Output = ()> + 'f>>;

/// Runs a case to its end on a dedicated runtime.
#[doc(hidden)]
pub fn run(
    case: &'static str,
    protocol: Protocol,
    fixture: impl AsyncFnOnce(Catalogue) -> Server,
    body: for<'f> fn(&'f Frontend) -> CaseFuture<'f>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    runtime.block_on(async {
        let seed = Seed::new().await;
        let server = fixture(seed.catalogue.clone()).await;
        let frontend = Frontend { case, protocol, server, seed, request_count: Cell::new(0) };
        frontend.assert_dropped_headers_exist().await;
        body(&frontend).await;
        if let Some(unused) = frontend.server.declared.unused(case) {
            fail(format!("{unused} was declared, but no request of the case uses it."));
        }
    });
}

impl Frontend {
    /// Creates a request with the key that reads courses.
    pub(crate) fn request(&self, method: &'static str, target: impl Into<String>) -> TestRequest {
        TestRequest::new(method, target).bearer(&self.seed.key)
    }

    /// Creates a GET with the key that reads courses.
    pub(crate) fn get(&self, target: impl Into<String>) -> TestRequest {
        self.request("GET", target)
    }

    /// Returns the core's response.
    pub(crate) async fn core(&self, request: &TestRequest) -> Response {
        self.seed.catalogue.call(request.to_http("")).await.into()
    }

    /// Asserts that the server's response to `request` equals the core's. Also asserts that the core returns `status`, as a
    /// check of the case itself.
    pub(crate) async fn assert_matches_core(&self, rule: &str, status: u16, request: TestRequest) {
        let core = self.core(&request).await;
        assert_eq!(
            core.status, status,
            "the core's response to {} {} is not the one that the case expects",
            request.method, request.target
        );
        let number = self.request_count.get() + 1;
        self.request_count.set(number);
        let declared = &self.server.declared;
        let exception = declared.exception(self.case, number);
        let deadline = if matches!(exception, Some(Deviation::NoResponse)) { NO_RESPONSE_TIMEOUT } else { DEADLINE };
        let mismatch = match (exception, self.send(&request, deadline).await) {
            (None, Ok(response)) => declared.difference(response, core),
            (None, Err(error)) => Some(format!("no response: {error}")),
            (Some(deviation), outcome) => declared.mismatch(deviation, outcome.ok(), core),
        };
        if let Some(mismatch) = mismatch {
            fail(format!("{rule} Sent {} {} ({}#{number}), {mismatch}.", request.method, request.target, self.case));
        }
    }

    /// Asserts that the server's pages equal the core's, from `start` along the links to the last page.
    pub(crate) async fn assert_pagination_matches(
        &self,
        rule: &str,
        start: &str,
        request: impl Fn(&str) -> TestRequest,
    ) {
        let mut target = start.to_owned();
        for _ in 0..10 {
            let response = self.core(&request(&target)).await;
            self.assert_matches_core(rule, 200, request(&target)).await;
            let Some(link) = response.headers.get("link") else { return };
            let link = str::from_utf8(&link[0]).expect("a link is ASCII");
            target = link.trim_start_matches('<').split('>').next().expect("a link has a URL").to_owned();
        }
        fail(format!("{rule} Paging did not end."));
    }

    /// Asserts that the catalogue sends each header that the server was declared to drop, in at least one kind of response.
    async fn assert_dropped_headers_exist(&self) {
        let dropped = self.server.declared.dropped();
        if dropped.is_empty() {
            return;
        }
        let preflight = TestRequest::new("OPTIONS", BASE).header("access-control-request-method", "GET");
        let list = self.get(format!("{BASE}/courses?limit=1"));
        let mut sent = BTreeSet::new();
        for request in [
            list,
            preflight,
            TestRequest::new("GET", BASE),
            TestRequest::new("OPTIONS", DOCS),
            TestRequest::new("GET", DOCS),
        ] {
            let request = request.header("origin", ORIGIN).header("accept-encoding", "gzip");
            sent.extend(self.core(&request).await.headers.into_keys());
        }
        if let Some(name) = dropped.iter().find(|name| !sent.contains(*name)) {
            fail(format!("The header {name} was declared to be dropped, but the catalogue never sends it."));
        }
    }

    async fn send(&self, request: &TestRequest, deadline: Duration) -> Result<Response, wire::ExchangeError> {
        let exchange = async {
            match self.protocol {
                Protocol::Http1 => wire::http1::exchange(self.server.address, request).await,
                Protocol::Http2 => wire::http2::exchange(self.server.address, request).await,
            }
        };
        tokio::time::timeout(deadline, exchange).await.unwrap_or_else(|_| Err("timed out".into()))
    }
}

/// Fails a case with one line: the panic hook would print a backtrace per failure if `RUST_BACKTRACE` is set.
#[expect(clippy::print_stderr, reason = "a test's output")]
fn fail(message: String) -> ! {
    eprintln!("{message}");
    resume_unwind(Box::new(message))
}
