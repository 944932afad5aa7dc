//! [`Server`]: a server behind trusted proxies that answers with the address it takes for the client's, and a connection to
//! it.

use std::convert::Infallible;
use std::future::{Pending, Ready, pending, ready};
use std::net::IpAddr;
use std::task::{Context, Poll};

use bytes::Bytes;
use catalogue_hyper::{ClientAddress, Networks, ServerConfig, serve};
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

pub(super) struct Server {
    runtime: Runtime,
    connection: TcpStream,
}

#[derive(Clone)]
struct WhoAsks;

impl Server {
    pub(super) fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let connection = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let trusted_proxies = Networks::parse(&["127.0.0.0/8", "10.0.0.0/8", "2001:db8:1::/48"]).unwrap();
            let config = ServerConfig { trusted_proxies, ..ServerConfig::default() };
            let never: Pending<()> = pending();
            tokio::spawn(serve(listener, WhoAsks, config, never));
            TcpStream::connect(address).await.unwrap()
        });
        connection.set_nodelay(true).unwrap();
        Self { runtime, connection }
    }

    /// Whom the server takes for the client of a request with these fields, and whether over HTTPS.
    pub(super) fn ask(&mut self, fields: &[(&str, HeaderValue)]) -> (IpAddr, bool) {
        let mut request = b"GET / HTTP/1.1\r\nhost: a\r\n".to_vec();
        for (name, value) in fields {
            request.extend_from_slice(format!("{name}: ").as_bytes());
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        let connection = &mut self.connection;
        let answer = self.runtime.block_on(async {
            connection.write_all(&request).await.expect("the server reads");
            let mut answer = Vec::new();
            loop {
                assert_ne!(connection.read_buf(&mut answer).await.expect("the server answers"), 0, "{request:?}");
                // The body ends with a line.
                if answer.ends_with(b"\n")
                    && answer.windows(4).any(|window| window == b"\r\n\r\n")
                    && !answer.ends_with(b"\r\n")
                {
                    return String::from_utf8(answer).expect("the answer is text");
                }
            }
        });
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head ends");
        (body.trim_end().parse().expect("an address"), head.contains("strict-transport-security"))
    }
}

impl Service<Request<Full<Bytes>>> for WhoAsks {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let ClientAddress(address) = request.extensions().get().copied().expect("each request has one");
        ready(Ok(Response::new(Full::from(format!("{address}\n")))))
    }
}
