//! Request bodies that the service collects.

use std::io::Write as _;
use std::time::Duration;

use http::Request;
use http_body_util::Full;

use super::super::{Networks, ServerConfig};
use super::http2::start_http2;
use super::support::{GET, SHORT_TIMEOUT, Server, announces_close, assert_bare, status, with, with_timeout};
use super::timeouts::long_timeouts;

async fn server() -> Server {
    Server::start_direct(ServerConfig::default()).await
}

fn head(fields: &str) -> String {
    format!("POST /echo HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

#[tokio::test]
async fn service_gets_body_and_next_request() {
    let server = server().await;
    let mut client = server.connect().await;
    for body in ["hello", "", "x".repeat(16 * 1024).as_str()] {
        client.send(head(&format!("Content-Length: {}\r\n", body.len())) + body).await;
        let response = client.response().await;
        assert!(!announces_close(&response));
        assert_eq!(response.split_once("\r\n\r\n").unwrap().1, body);
    }
    client.send(GET).await;
    assert!(client.response().await.ends_with("GET /"));
}

#[tokio::test]
async fn service_gets_chunked_body_and_pipelined_request() {
    let server = server().await;
    let mut client = server.connect().await;
    client.send(head("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n").await;
    client.send("2;x=y\r\nde\r\n0\r\nTrailer: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert!(client.response().await.ends_with("\r\n\r\nabcde"));
    assert!(client.response().await.ends_with("GET /"));
}

#[tokio::test]
async fn incomplete_body_does_not_reach_service() {
    let server = Server::start_direct(with(long_timeouts(), |c| c.timeouts.stall = SHORT_TIMEOUT)).await;
    for (request, finishes) in [
        (head("Content-Length: 5\r\n") + "hell", false),
        (head("Transfer-Encoding: chunked\r\n") + "nonsense\r\n", false),
        (head("Content-Length: 5\r\n") + "hell", true),
    ] {
        let mut client = server.connect().await;
        client.send(request).await;
        if finishes {
            client.finish().await;
        }
        client.end().await;
    }
    assert_eq!(server.reached(), 0);
    assert_eq!(status(&server.exchange("GET / HTTP/1.0\r\n\r\n").await), "200");
}

/// The server learns of a second client and of the first one's body together: it evicts the first, and then reads the body.
#[tokio::test]
async fn body_arriving_during_eviction_is_served() {
    let server = Server::start_direct(with(long_timeouts(), |c| {
        c.limits.connections = 1;
        c.timeouts.reclaim = Duration::ZERO;
    }))
    .await;
    let mut client = server.connect_awaiting_body("/gate?body").await;
    let mut other = std::net::TcpStream::connect(server.address).unwrap();
    other.write_all(GET).unwrap();
    assert_eq!(client.0.try_write(b"hello").unwrap(), 5);
    server.wait_for_request().await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, server.wait_for_request()).await.expect_err("the server is full");
    server.open_gate();
    assert!(client.response().await.ends_with("passed"));
}

#[tokio::test]
async fn body_can_arrive_during_shutdown() {
    let mut server = server().await;
    let mut client = server.connect_awaiting_body("/echo").await;
    server.stop_accepting().await;
    client.send("hello").await;
    let response = client.read_to_end().await;
    assert!(announces_close(&response) && response.ends_with("hello"), "{response}");
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn shutdown_waits_for_body_until_grace_ends() {
    let mut server = Server::start_direct(with(long_timeouts(), |c| c.timeouts.grace = SHORT_TIMEOUT)).await;
    let _client = server.connect_awaiting_body("/echo").await;
    server.stop();
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn request_has_addresses_of_client_and_peer() {
    let config = with(ServerConfig::default(), |c| c.trusted_proxies = Networks::parse(&["127.0.0.1"]).unwrap());
    let server = Server::start_direct(config).await;
    for (path, address) in [("/connected", "Some(PeerAddress(127.0.0.1))"), ("/peer", "192.0.2.7")] {
        let mut client = server.connect().await;
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n")).await;
        assert!(client.response().await.ends_with(address), "{path}");
    }
}

#[tokio::test]
async fn refused_head_gets_no_100_continue() {
    let server = server().await;
    let responses = server.exchange("POST /echo HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n").await;
    assert_bare(&responses, "400");
}

#[tokio::test]
async fn http2_body_reaches_service() {
    let (_authority, server, mut client) = start_http2(ServerConfig::default()).await;
    for body in ["hello".to_owned(), String::new(), "x".repeat(16 * 1024)] {
        let request = Request::post("https://localhost/echo").body(Full::new(body.clone().into())).unwrap();
        let (head, echo) = with_timeout(client.send(request)).await.unwrap();
        assert_eq!((head.status.as_u16(), echo), (200, body.into_bytes()));
    }
    assert_eq!(server.reached(), 3);
    assert_eq!(with_timeout(client.get("/")).await.unwrap().0.status, 200);
}
