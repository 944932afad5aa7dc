//! HTTP/2 over TLS. Frames that a client library would not write are written by hand.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::client::TlsStream;

use super::ServerConfig;
use super::certificates::Authority;
use super::support::{BIG_RESPONSE_BYTES, SHORT_TIMEOUT, Server, with, with_timeout};
use super::timeouts::long_timeouts;
use super::tls::start;

const HTTP_2: &[u8] = b"h2";

// Types of frames.
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const CONTINUATION: u8 = 9;
// Flags.
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// `GET` over `https`, `:authority: a`, as HPACK (RFC 7541) without Huffman coding; the path follows.
const GET_HTTPS_A: &[u8] = b"\x82\x87\x01\x01a";

/// Returns the head of a GET for `path`.
pub(super) fn head_of(path: &str) -> Vec<u8> {
    [GET_HTTPS_A, &[0x04, u8::try_from(path.len()).unwrap()], path.as_bytes()].concat()
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A client based on hyper.
pub(super) struct Http2Client {
    sender: SendRequest<Full<bytes::Bytes>>,
    connection: JoinHandle<hyper::Result<()>>,
}

impl Http2Client {
    pub(super) async fn connect(authority: &Authority, server: &Server) -> Self {
        let stream = TokioIo::new(authority.connect(server.address, HTTP_2).await);
        let (sender, connection) = handshake(TokioExecutor::new(), stream).await.unwrap();
        Self { sender, connection: tokio::spawn(connection) }
    }

    /// Sends a GET, and returns its outcome.
    pub(super) fn get(
        &mut self,
        path: &str,
    ) -> impl Future<Output = hyper::Result<(http::response::Parts, Vec<u8>)>> + use<> {
        let request = Request::get(format!("https://localhost{path}")).body(Full::default()).unwrap();
        self.send(request)
    }

    pub(super) fn send(
        &mut self,
        request: Request<Full<bytes::Bytes>>,
    ) -> impl Future<Output = hyper::Result<(http::response::Parts, Vec<u8>)>> + use<> {
        let pending = self.sender.send_request(request);
        async {
            let (head, body) = pending.await?.into_parts();
            Ok((head, body.collect().await?.to_bytes().to_vec()))
        }
    }
}

/// A client that writes its frames by hand.
pub(super) struct RawHttp2Client(TlsStream<TcpStream>);

impl RawHttp2Client {
    /// Connects, and sends the preface and empty settings.
    pub(super) async fn connect(authority: &Authority, server: &Server) -> Self {
        let mut client = Self(authority.connect(server.address, HTTP_2).await);
        client.0.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        client.send(SETTINGS, 0, 0, b"").await;
        client
    }

    /// Returns the TCP connection once TLS is established, without ending TLS.
    pub(super) async fn into_tcp(mut self) -> TcpStream {
        self.next().await.unwrap();
        self.0.into_inner().0
    }

    /// Sends a frame. Returns `false` if the server accepts no more.
    pub(super) async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        self.write(&frame(kind, flags, stream, payload)).await
    }

    pub(super) async fn write(&mut self, frames: &[u8]) -> bool {
        self.0.write_all(frames).await.is_ok() && self.0.flush().await.is_ok()
    }

    /// Sends a frame again and again, without reading anything, until the server accepts no more.
    pub(super) async fn flood(&mut self, frame: &[u8]) {
        let many = frame.repeat(1_000);
        with_timeout(async { while self.write(&many).await {} }).await;
    }

    pub(super) async fn get(&mut self, stream: u32, path: &str) -> bool {
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, &head_of(path)).await
    }

    /// Returns the type, the stream and the payload of the next frame, or `None` at the end of the connection.
    pub(super) async fn next(&mut self) -> Option<(u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        with_timeout(self.0.read_exact(&mut head)).await.ok()?;
        let [high, middle, low, kind, _, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
        with_timeout(self.0.read_exact(&mut payload)).await.ok()?;
        Some((kind, u32::from_be_bytes(stream), payload))
    }

    /// Skips frames up to the next one of the type `expected_kind`.
    pub(super) async fn skip_to(&mut self, expected_kind: u8) -> Option<(u32, Vec<u8>)> {
        loop {
            let (kind, stream, payload) = self.next().await?;
            if kind == expected_kind {
                return Some((stream, payload));
            }
        }
    }

    /// Waits for the end of the connection. Returns the error code of the server's `GOAWAY`, if any.
    pub(super) async fn end(&mut self) -> Option<u32> {
        let mut error = None;
        while let Some((kind, _, payload)) = self.next().await {
            if kind == GOAWAY {
                error = Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
            }
        }
        error
    }
}

/// Starts a server. Returns its authority, the server, and a client.
pub(super) async fn start_raw_http2(config: ServerConfig) -> (Authority, Server, RawHttp2Client) {
    let authority = Authority::new();
    let server = start(&authority, config).await;
    let client = RawHttp2Client::connect(&authority, &server).await;
    (authority, server, client)
}

pub(super) async fn start_http2(config: ServerConfig) -> (Authority, Server, Http2Client) {
    let authority = Authority::new();
    let server = start(&authority, config).await;
    let client = Http2Client::connect(&authority, &server).await;
    (authority, server, client)
}

/// Asserts that another client is served if it retries refused requests.
pub(super) async fn assert_served_again(authority: &Authority, server: &Server) {
    let mut client = Http2Client::connect(authority, server).await;
    with_timeout(async { while client.get("/").await.is_err() {} }).await;
}

/// Asserts that other clients are still served.
pub(super) async fn assert_others_served(authority: &Authority, server: &Server) {
    let mut client = Http2Client::connect(authority, server).await;
    assert_eq!(with_timeout(client.get("/")).await.unwrap().0.status, 200);
}

#[tokio::test]
async fn concurrent_requests_get_independent_responses() {
    let (_authority, server, mut client) = start_http2(ServerConfig::default()).await;
    let gate = tokio::spawn(client.get("/gate"));
    server.wait_for_request().await;
    let (head, body) = with_timeout(client.get("/quick")).await.unwrap();
    assert_eq!((head.status, &*body), (StatusCode::OK, b"GET https://localhost/quick".as_slice()));
    assert_eq!(head.headers["strict-transport-security"], "max-age=31536000");
    server.open_gate();
    assert_eq!(with_timeout(gate).await.unwrap().unwrap().1, b"passed");
}

#[tokio::test]
async fn panic_returns_500_or_ends_only_its_stream() {
    let (_authority, server, mut client) = start_http2(ServerConfig::default()).await;
    let gate = tokio::spawn(client.get("/gate"));
    server.wait_for_request().await;
    for path in ["/panic-in-call", "/panic", "/panic-late"] {
        let (head, body) = with_timeout(client.get(path)).await.unwrap();
        assert_eq!((head.status, body.len()), (StatusCode::INTERNAL_SERVER_ERROR, 0), "{path}");
    }
    for path in ["/panic-in-body", "/panic-late-in-body"] {
        with_timeout(client.get(path)).await.unwrap_err();
    }
    assert_eq!(server.metrics.panics(), 5);
    server.open_gate();
    assert_eq!(with_timeout(gate).await.unwrap().unwrap().1, b"passed");
}

#[tokio::test]
async fn response_does_not_wait_for_body() {
    let (_authority, _server, mut client) = start_raw_http2(ServerConfig::default()).await;
    client.send(HEADERS, END_HEADERS, 1, &head_of("/")).await;
    assert_eq!(client.skip_to(HEADERS).await.unwrap().0, 1);
    // The error code 0 is NO_ERROR: the server does not want the rest of the body.
    assert_eq!(client.skip_to(RST_STREAM).await.unwrap(), (1, vec![0; 4]));
    client.send(DATA, END_STREAM, 1, &[b'x'; 1000]).await;
    client.get(3, "/").await;
    assert_eq!(client.skip_to(HEADERS).await.unwrap().0, 3);
}

#[tokio::test]
async fn large_request_body_is_discarded() {
    let (_authority, _server, mut client) = start_http2(ServerConfig::default()).await;
    for _ in 0..3 {
        let body = Full::new(vec![b'x'; 1_000_000].into());
        let request = Request::post("https://localhost/").body(body).unwrap();
        assert_eq!(with_timeout(client.send(request)).await.unwrap().0.status, 200);
    }
}

#[tokio::test]
async fn invalid_authority_returns_400() {
    let (_authority, _server, mut client) = start_raw_http2(ServerConfig::default()).await;
    let mut number = 1;
    // The authority, the `Host` next to it, and the status. An empty text omits the field.
    for (authority, host, status) in [
        ("a", "", "200"),
        ("a:443", "", "200"),
        ("[::1]:443", "", "200"),
        ("", "a", "200"),
        ("a", "A", "200"),
        ("", "", "400"),
        ("user@a", "", "400"),
        ("a:x", "", "400"),
        ("a", "b", "400"),
        ("", "a b", "400"),
    ] {
        let text = |index: u8, text: &str| match text.len() {
            0 => Vec::new(),
            length => [&[index, u8::try_from(length).unwrap()], text.as_bytes()].concat(),
        };
        let host_field = match host.len() {
            0 => Vec::new(),
            // Index 38 of the static table, as a literal without indexing.
            _ => [&[0x0f, 38 - 15][..], &text(0, host)[1..]].concat(),
        };
        let head = [b"\x82\x87\x84".as_slice(), &text(0x01, authority), &host_field].concat();
        client.send(HEADERS, END_STREAM | END_HEADERS, number, &head).await;
        let pending = with_timeout(async {
            loop {
                match client.next().await.expect("the connection stays open") {
                    (HEADERS, stream, payload) if stream == number => return status_of(&payload),
                    // hyper itself refuses the head as malformed.
                    (RST_STREAM, stream, _) if stream == number => return "400",
                    _ => {}
                }
            }
        });
        assert_eq!(pending.await, status, "{authority:?} {host:?}");
        number += 2;
    }
}

/// Returns the status at the beginning of a head, after updates of the table's size, from its index in HPACK's static table.
fn status_of(head: &[u8]) -> &'static str {
    match head.iter().find(|byte| !(0x20..0x40).contains(*byte)) {
        Some(0x88) => "200",
        Some(0x8c) => "400",
        Some(0x8e) => "500",
        _ => "another",
    }
}

#[tokio::test]
async fn large_head_is_served() {
    let (_authority, _server, mut client) = start_http2(ServerConfig::default()).await;
    let request = Request::get("https://localhost/").header("x", "y".repeat(15_000)).body(Full::default()).unwrap();
    assert_eq!(with_timeout(client.send(request)).await.unwrap().0.status, 200);
}

#[tokio::test]
async fn head_over_16_kib_returns_431() {
    let (_authority, server, mut client) = start_raw_http2(ServerConfig::default()).await;
    // A literal field of 14,000 bytes per frame: HPACK encodes its length as 127 and two more bytes.
    let field = |length: usize| {
        let excess = length - 127;
        let low = u8::try_from(excess & 0x7f).unwrap() | 0x80;
        [&[0x00, 1, b'x', 0x7f, low, u8::try_from(excess >> 7).unwrap()][..], &vec![b'y'; length]].concat()
    };
    client.send(HEADERS, END_STREAM, 1, &head_of("/")).await;
    for last in [false, true] {
        client.send(CONTINUATION, if last { END_HEADERS } else { 0 }, 1, &field(14_000)).await;
    }
    let (stream, head) = client.skip_to(HEADERS).await.unwrap();
    assert_eq!(stream, 1);
    // `:status` is index 8 of the static table, and 431 is in the Huffman code of RFC 7541, appendix B.
    assert!(head.starts_with(b"\x48\x83\x69\x90\xff"), "{}", head.escape_ascii());
    assert_eq!(server.reached(), 0);
    client.get(3, "/").await;
    assert_eq!(client.skip_to(HEADERS).await.unwrap().0, 3);
}

#[tokio::test]
async fn endless_continuations_end_connection() {
    let (authority, server, mut client) = start_raw_http2(ServerConfig::default()).await;
    client.send(HEADERS, END_STREAM, 1, &head_of("/")).await;
    client.flood(&frame(CONTINUATION, 0, 1, b"")).await;
    assert_eq!(server.reached(), 0);
    assert_others_served(&authority, &server).await;
}

#[tokio::test]
async fn rapid_resets_end_connection() {
    let (authority, server, mut client) = start_raw_http2(ServerConfig::default()).await;
    let mut burst = Vec::new();
    for number in (1..20_000_u32).step_by(2) {
        burst.extend(frame(HEADERS, END_STREAM | END_HEADERS, number, &head_of("/")));
        burst.extend(frame(RST_STREAM, 0, number, b"\0\0\0\x08"));
    }
    let _ = with_timeout(client.0.write_all(&burst)).await;
    let _ = client.0.flush().await;
    assert_ne!(client.end().await, Some(0));
    assert!(server.reached() < 10_000);
    assert_others_served(&authority, &server).await;
}

#[tokio::test]
async fn unread_replies_to_pings_and_settings_end_connection() {
    // The kernel has the same timeout in whole milliseconds, so it has none here. Its timeout would begin earlier, when the
    // client's buffers are full but the server's are not, and end the connection as `failed`.
    let stall = Duration::from_micros(999);
    for (kind, payload) in [(PING, b"12345678".as_slice()), (SETTINGS, b"")] {
        let (authority, server, mut client) =
            start_raw_http2(with(long_timeouts(), |c| c.timeouts.stall = stall)).await;
        client.flood(&frame(kind, 0, 0, payload)).await;
        assert_eq!(server.closed_count("stalled").await, 1);
        // On a slow machine, a request can take longer than this timeout.
        let served = async { while Http2Client::connect(&authority, &server).await.get("/").await.is_err() {} };
        with_timeout(served).await;
    }
}

#[tokio::test]
async fn pings_do_not_keep_connection_alive() {
    // The client opens no window beyond the first 64 KiB for the unread response.
    for path in [None, Some("/big")] {
        let (_authority, server, mut client) = start_raw_http2(with(long_timeouts(), |c| match path {
            None => c.timeouts.idle = 4 * SHORT_TIMEOUT,
            Some(_) => c.timeouts.stall = 4 * SHORT_TIMEOUT,
        }))
        .await;
        if let Some(path) = path {
            client.get(1, path).await;
            server.wait_for_request().await;
        }
        let mut ticks = tokio::time::interval(SHORT_TIMEOUT);
        let ping = async {
            loop {
                ticks.tick().await;
                if !client.send(PING, 0, 0, b"12345678").await {
                    return;
                }
                if let Ok(None) = tokio::time::timeout(SHORT_TIMEOUT / 2, client.next()).await {
                    return;
                }
            }
        };
        with_timeout(ping).await;
    }
}

#[tokio::test]
async fn idle_client_gets_goaway() {
    let (_authority, _server, mut client) =
        start_raw_http2(with(long_timeouts(), |c| c.timeouts.idle = SHORT_TIMEOUT)).await;
    let since = Instant::now();
    assert_eq!(client.end().await, Some(0));
    assert!(since.elapsed() >= SHORT_TIMEOUT);
}

#[tokio::test]
async fn unfinished_head_ends_connection() {
    for half in [true, false] {
        let (_authority, server, mut client) =
            start_raw_http2(with(long_timeouts(), |c| c.timeouts.idle = SHORT_TIMEOUT)).await;
        let since = Instant::now();
        if half {
            client.send(HEADERS, END_STREAM, 1, &head_of("/")).await;
        } else {
            client.0.write_all(&[0, 0, 50, HEADERS, END_HEADERS, 0, 0, 0, 1, 0x82]).await.unwrap();
        }
        client.end().await;
        assert!(since.elapsed() >= SHORT_TIMEOUT);
        assert_eq!(server.reached(), 0);
    }
}

#[tokio::test]
async fn large_response_is_complete() {
    let (_authority, _server, mut client) = start_http2(ServerConfig::default()).await;
    assert_eq!(with_timeout(client.get("/big")).await.unwrap().1.len(), BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn running_requests_finish_during_shutdown() {
    let (_authority, mut server, mut client) = start_http2(ServerConfig::default()).await;
    let running: Vec<_> = (0..10).map(|_| tokio::spawn(client.get("/gate"))).collect();
    for _ in 0..10 {
        server.wait_for_request().await;
    }
    server.stop_accepting().await;
    for _ in 0..10 {
        server.open_gate();
    }
    for pending in running {
        assert_eq!(with_timeout(pending).await.unwrap().unwrap().1, b"passed");
    }
    with_timeout(client.connection).await.unwrap().unwrap();
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn requests_in_flight_at_shutdown_get_responses() {
    for _ in 0..20 {
        let (_authority, mut server, mut client) = start_http2(ServerConfig::default()).await;
        with_timeout(client.get("/")).await.unwrap();
        let late: Vec<_> = (0..10).map(|_| tokio::spawn(client.get("/"))).collect();
        server.stop();
        for pending in late {
            assert_eq!(with_timeout(pending).await.unwrap().unwrap().0.status, 200);
        }
        server.wait_until_stopped().await;
    }
}

#[tokio::test]
async fn shutdown_does_not_wait_for_idle_clients() {
    let config = with(ServerConfig::default(), |c| c.timeouts.grace = Duration::from_secs(600));
    let (authority, mut server, client) = start_http2(config).await;
    // This client never acknowledges GOAWAY.
    let _silent = RawHttp2Client::connect(&authority, &server).await;
    server.stop();
    with_timeout(client.connection).await.unwrap().unwrap();
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn long_request_is_dropped_after_grace() {
    let (_authority, mut server, mut client) =
        start_http2(with(ServerConfig::default(), |c| c.timeouts.grace = SHORT_TIMEOUT)).await;
    let never = tokio::spawn(client.get("/never"));
    server.wait_for_request().await;
    server.stop();
    with_timeout(never).await.unwrap().unwrap_err();
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn idle_connection_is_evicted_when_server_is_full() {
    let (authority, server, mut client) = start_http2(with(long_timeouts(), |c| {
        c.limits.connections = 1;
        c.timeouts.reclaim = SHORT_TIMEOUT;
    }))
    .await;
    with_timeout(client.get("/")).await.unwrap();
    assert_others_served(&authority, &server).await;
    let _ = with_timeout(client.connection).await.unwrap();
}

#[tokio::test]
async fn http_1_request_over_h2_ends_connection() {
    let authority = Authority::new();
    let server = start(&authority, ServerConfig::default()).await;
    let mut client = RawHttp2Client(authority.connect(server.address, HTTP_2).await);
    client.0.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    client.end().await;
    assert_eq!(server.reached(), 0);
    assert_others_served(&authority, &server).await;
}
