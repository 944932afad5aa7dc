//! `X-Forwarded-For` and `X-Forwarded-Proto`. Each line of an input is a field from the client: `x` or `p`, and its value.
//! Once the proxy has added an address and a scheme, the server must not use those from the client.

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::{Pending, Ready, pending, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use catalogue_hyper::{ClientAddress, Networks, RequestBody, ServerConfig, serve};
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";
/// Client address that the proxy adds.
const CLIENT: &str = "192.0.2.66";
const PROXY: &str = "127.0.0.1";

type Fields = Vec<(&'static str, HeaderValue)>;

thread_local! {
    static SERVER: RefCell<Server> = RefCell::new(Server::start());
}

pub(super) fn check(input: &[u8]) {
    let fields = fields(input);
    if fields.len() > 50 || fields.iter().map(|(_, value)| value.len()).sum::<usize>() > 8 << 10 {
        return;
    }
    send(&fields);
    let mut on_separate_line = fields.clone();
    on_separate_line.push((FOR, HeaderValue::from_static(CLIENT)));
    let mut appended = fields.clone();
    match appended.iter_mut().rfind(|(name, _)| *name == FOR) {
        Some((_, line)) => {
            let added = [line.as_bytes(), b", ", CLIENT.as_bytes()].concat();
            *line = HeaderValue::from_bytes(added.trim_ascii()).unwrap();
        }
        None => appended.push((FOR, HeaderValue::from_static(CLIENT))),
    }
    for mut added in [on_separate_line, appended] {
        // A proxy that reports the scheme adds it last too.
        added.push((PROTO, HeaderValue::from_static("http")));
        let (found, https) = send(&added);
        assert!(found == CLIENT || found == PROXY, "{found} {added:?}");
        assert!(!https, "{added:?}");
    }
}

fn fields(input: &[u8]) -> Fields {
    let lines = input.split(|byte| *byte == b'\n').filter_map(|line| {
        let (first, rest) = line.split_first()?;
        let name = match first {
            b'x' => FOR,
            b'p' => PROTO,
            _ => return None,
        };
        Some((name, HeaderValue::from_bytes(rest.trim_ascii()).ok()?))
    });
    lines.collect()
}

fn send(fields: &Fields) -> (String, bool) {
    SERVER.with_borrow_mut(|server| server.send(fields))
}

/// A server with trusted proxies, which responds with the client address that it determines, and a connection to it.
struct Server {
    runtime: Runtime,
    connection: TcpStream,
}

#[derive(Clone)]
struct EchoClientAddress;

impl Server {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let connection = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let trusted_proxies = Networks::parse(&["127.0.0.0/8", "10.0.0.0/8", "2001:db8:1::/48"]).unwrap();
            let config = ServerConfig { trusted_proxies, ..ServerConfig::default() };
            let never: Pending<()> = pending();
            tokio::spawn(serve(listener, EchoClientAddress, config, never));
            TcpStream::connect(address).await.unwrap()
        });
        connection.set_nodelay(true).unwrap();
        Self { runtime, connection }
    }

    /// Returns the client address that the server determines for a request with these fields, and whether it assumes HTTPS.
    fn send(&mut self, fields: &Fields) -> (String, bool) {
        let mut request = b"GET / HTTP/1.1\r\nhost: a\r\n".to_vec();
        for (name, value) in fields {
            request.extend([name.as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        request.extend_from_slice(b"\r\n");
        let connection = &mut self.connection;
        let response = self.runtime.block_on(async {
            connection.write_all(&request).await.expect("the server reads");
            let mut response = Vec::new();
            // The body ends with a line feed.
            while !response.ends_with(b"\n") || response.ends_with(b"\r\n") {
                assert_ne!(connection.read_buf(&mut response).await.expect("the server responds"), 0, "{request:?}");
            }
            String::from_utf8(response).expect("the response is text")
        });
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        let (head, body) = response.split_once("\r\n\r\n").expect("the head ends");
        (body.trim_end().to_owned(), head.contains("strict-transport-security"))
    }
}

impl Service<Request<RequestBody>> for EchoClientAddress {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let ClientAddress(address) = request.extensions().get().copied().expect("each request has an address");
        ready(Ok(Response::new(Full::from(format!("{address}\n")))))
    }
}
