//! A small service, a server around it, and a client that sees every byte.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::limit::ClientAddress;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::certificates::Authority;
use super::{ConnectionMetrics, ServerConfig, USES_TLS, serve};
use crate::{PeerAddress, RequestBody};

/// Timeout for everything that a test waits for.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Short value for the timeouts under test.
pub(super) const SHORT_TIMEOUT: Duration = Duration::from_millis(150);

/// A plain request.
pub(super) const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A request that a server must not see as one, because it is a part of the message before it.
pub(super) const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/// Size of the response at `/big`: more than the buffers of two sockets hold.
pub(super) const BIG_RESPONSE_BYTES: usize = 24 * 1024 * 1024;

/// Returns `config` after applying `change`.
pub(super) fn with(mut config: ServerConfig, change: impl FnOnce(&mut ServerConfig)) -> ServerConfig {
    change(&mut config);
    config
}

/// Pause between polls, so that tests do not take the processors from each other.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits with a timeout, so that a failing test ends.
pub(super) async fn with_timeout<T>(work: impl Future<Output = T>) -> T {
    timeout(TEST_TIMEOUT, work).await.expect("done within the timeout of a test")
}

/// Polls `is_true` until it returns `true`.
pub(super) async fn until(is_true: impl Fn() -> bool) {
    with_timeout(async {
        while !is_true() {
            sleep(PAUSE).await;
        }
    })
    .await;
}

/// Service that responds by path, and counts requests. Ignores bodies, except those for which [`collects_body`] is true.
#[derive(Clone)]
pub(super) struct PathService {
    /// Number of requests that have reached the service, with their bodies if it collects them.
    pub(super) reached: Arc<AtomicUsize>,
    /// Gets a permit for each of these requests, so that tests can wait for them.
    pub(super) arrivals: Arc<Semaphore>,
    /// Each permit lets one request at `/gate` continue.
    pub(super) gate: Arc<Semaphore>,
}

/// Body that yields this data, if any, and then panics: when it is polled, or when it is dropped. Nothing catches the latter
/// panic, so it ends the connection's task.
struct PanickingBody {
    data: Option<Bytes>,
    panics_in_drop: bool,
}

impl Body for PanickingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = self.data.take();
        assert!(data.is_some() || self.panics_in_drop, "deliberate panic");
        Poll::Ready(data.map(|data| Ok(Frame::data(data))))
    }
}

impl Drop for PanickingBody {
    fn drop(&mut self) {
        assert!(!self.panics_in_drop, "deliberate panic");
    }
}

/// Returns whether the service collects the body of a request with this `head`.
fn collects_body(head: &Parts) -> bool {
    head.uri.path() == "/echo" || head.uri.query() == Some("body")
}

impl PathService {
    fn reach(&self) {
        self.reached.fetch_add(1, Ordering::SeqCst);
        self.arrivals.add_permits(1);
    }
}

impl Service<Request<RequestBody>> for PathService {
    type Response = Response<UnsyncBoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let (head, body) = request.into_parts();
        let body_hint = format!("{:?} {}", body.size_hint().exact(), body.is_end_stream());
        let body = collects_body(&head).then_some(body);
        if body.is_none() {
            self.reach();
        }
        assert!(head.uri.path() != "/panic-in-call", "deliberate panic");
        let (service, gate) = (self.clone(), self.gate.clone());
        Box::pin(async move {
            let body = match body.map(BodyExt::collect) {
                None => Bytes::new(),
                Some(body) => match body.await {
                    Ok(body) => {
                        service.reach();
                        body.to_bytes()
                    }
                    Err(_) => {
                        let mut refusal = Response::new(Full::default().boxed_unsync());
                        *refusal.status_mut() = StatusCode::BAD_REQUEST;
                        return Ok(refusal);
                    }
                },
            };
            let text = match head.uri.path() {
                "/gate" => {
                    gate.acquire().await.unwrap().forget();
                    "passed".into()
                }
                "/never" => pending().await,
                "/panic" => panic!("deliberate panic"),
                "/panic-late" => {
                    yield_now().await;
                    panic!("deliberate panic")
                }
                "/peer" => head.extensions.get::<ClientAddress>().unwrap().0.to_string(),
                "/connected" => format!("{:?}", head.extensions.get::<PeerAddress>()),
                "/big" => "x".repeat(BIG_RESPONSE_BYTES),
                "/empty" => String::new(),
                "/body-hint" => body_hint,
                "/echo" => return Ok(Response::new(Full::new(body).boxed_unsync())),
                path @ ("/panic-in-drop" | "/panic-in-body" | "/panic-late-in-body") => {
                    let data = (path == "/panic-late-in-body").then(|| "begun".into());
                    let body = PanickingBody { data, panics_in_drop: path == "/panic-in-drop" };
                    return Ok(Response::new(body.boxed_unsync()));
                }
                _ => format!("{} {}", head.method, head.uri),
            };
            Ok(Response::new(Full::new(text.into()).boxed_unsync()))
        })
    }
}

/// A running server.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) service: PathService,
    pub(super) metrics: Arc<ConnectionMetrics>,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Server {
    /// Serves on a free port, behind a tunnel if [`USES_TLS`].
    pub(super) async fn start(config: ServerConfig) -> Self {
        if USES_TLS { Self::start_behind_tunnel(config).await } else { Self::start_direct(config).await }
    }

    /// Serves HTTPS behind a tunnel that clients of HTTP/1 do not notice.
    async fn start_behind_tunnel(config: ServerConfig) -> Self {
        let authority = Authority::new();
        let mut server = Self::start_direct(ServerConfig { tls: Some(authority.tls()), ..config }).await;
        server.address = authority.tunnel(server.address, b"http/1.1").await;
        server
    }

    /// Serves exactly with `config`, without a tunnel.
    pub(super) async fn start_direct(config: ServerConfig) -> Self {
        let gate = Arc::new(Semaphore::new(0));
        let service = PathService { reached: Arc::default(), arrivals: Arc::new(Semaphore::new(0)), gate };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { drop(stopped.await) };
        let metrics = config.metrics.clone();
        let running = tokio::spawn(serve(listener, service.clone(), config, shutdown));
        Self { address, service, metrics, stop: Some(stop), running }
    }

    /// Serves with the default configuration.
    pub(super) async fn start_default() -> Self {
        Self::start(ServerConfig::default()).await
    }

    pub(super) async fn start_with_client(config: ServerConfig) -> (Self, Client) {
        let server = Self::start(config).await;
        let client = server.connect().await;
        (server, client)
    }

    pub(super) async fn start_default_with_client() -> (Self, Client) {
        Self::start_with_client(ServerConfig::default()).await
    }

    pub(super) async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }

    /// Returns a connection with a request to `path` for whose body of five bytes the service waits.
    pub(super) async fn connect_awaiting_body(&self, path: &str) -> Client {
        let mut client = self.connect().await;
        let fields = "Host: a\r\nContent-Length: 5\r\nExpect: 100-continue";
        client.send(format!("POST {path} HTTP/1.1\r\n{fields}\r\n\r\n")).await;
        assert_eq!(client.line().await + &client.line().await, "HTTP/1.1 100 Continue\r\n\r\n");
        client
    }

    /// Sends one request on a separate connection. Returns everything received until its end.
    pub(super) async fn exchange(&self, request: impl AsRef<[u8]>) -> String {
        let mut client = self.connect().await;
        client.send(request).await;
        client.read_to_end().await
    }

    /// Returns how many requests have reached the service.
    pub(super) fn reached(&self) -> usize {
        self.service.reached.load(Ordering::SeqCst)
    }

    /// Waits for another request to reach the service.
    pub(super) async fn wait_for_request(&self) {
        with_timeout(self.service.arrivals.acquire()).await.unwrap().forget();
    }

    /// Lets one request at `/gate` continue.
    pub(super) fn open_gate(&self) {
        self.service.gate.add_permits(1);
    }

    /// Returns how many connections have ended for `reason`. Waits for the first: a client sees the end before it is counted.
    pub(super) async fn closed_count(&self, reason: &str) -> u64 {
        let count = || self.metrics.closed().find(|(name, _)| name.name() == reason).unwrap().1;
        until(|| count() > 0).await;
        assert_eq!(self.metrics.open(), 0);
        count()
    }

    /// Begins the shutdown.
    pub(super) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Begins the shutdown, and waits until the server has noticed it and accepts no more connections.
    pub(super) async fn stop_accepting(&mut self) {
        self.stop();
        with_timeout(async {
            while TcpStream::connect(self.address).await.is_ok() {
                sleep(PAUSE).await;
            }
        })
        .await;
    }

    /// Drops the server's future.
    pub(super) fn abort(&self) {
        self.running.abort();
    }

    /// Waits until the server has stopped.
    pub(super) async fn wait_until_stopped(self) {
        with_timeout(self.running).await.unwrap();
    }
}

/// Client side of a connection.
pub(super) struct Client<S = TcpStream>(pub(super) S);

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        with_timeout(self.0.write_all(bytes.as_ref())).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Asserts that the connection serves a further request, so it has not ended.
    pub(super) async fn assert_served(&mut self) {
        self.send(GET).await;
        let response = self.response().await;
        assert!(status(&response) == "200" && response.ends_with("GET /"), "{response}");
    }

    /// Sends a byte at intervals, for as long as this is polled.
    pub(super) async fn dribble(&mut self) {
        let mut ticks = tokio::time::interval(SHORT_TIMEOUT / 10);
        loop {
            ticks.tick().await;
            if self.0.write_all(b"1").await.is_err() {
                pending::<()>().await;
            }
        }
    }

    /// Closes the client's side; the server's stays open.
    pub(super) async fn finish(&mut self) {
        self.0.shutdown().await.unwrap();
    }

    /// Reads one line of a response's head.
    pub(super) async fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.push(with_timeout(self.0.read_u8()).await.expect("a line"));
        }
        String::from_utf8(line).unwrap()
    }

    /// Reads one response with a `Content-Length`. Returns its head and body.
    pub(super) async fn response(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(with_timeout(self.0.read_u8()).await.expect("a response's head"));
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.parse().unwrap()];
        with_timeout(self.0.read_exact(&mut body)).await.expect("a response's body");
        head + str::from_utf8(&body).unwrap()
    }

    /// Returns all bytes until the server closes without a reset.
    pub(super) async fn read_to_end(&mut self) -> String {
        let mut received = Vec::new();
        with_timeout(self.0.read_to_end(&mut received)).await.expect("an end without a reset");
        String::from_utf8(received).unwrap()
    }

    /// Waits for the end of the connection, with or without a reset. Returns what came before.
    pub(super) async fn end(&mut self) -> Vec<u8> {
        let mut received = Vec::new();
        let _ = with_timeout(self.0.read_to_end(&mut received)).await;
        received
    }
}

/// Returns the status of a response.
pub(super) fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or(response)
}

/// Returns whether the response announces that it is the last.
pub(super) fn announces_close(response: &str) -> bool {
    response.contains("\r\nconnection: close\r\n")
}

/// Asserts that `responses` is one response with the status `expected` and `Connection: close`, without a body.
pub(super) fn assert_bare(responses: &str, expected: &str) {
    assert_eq!(status(responses), expected, "{responses}");
    assert!(announces_close(responses), "{responses}");
    assert!(responses.contains("\r\ncontent-length: 0\r\n"), "{responses}");
    assert!(responses.ends_with("\r\n\r\n"), "{responses}");
    assert_eq!(responses.matches("HTTP/1.").count(), 1, "{responses}");
}
