//! Requests with valid or invalid targets, and how many of them a connection serves.

use std::time::Duration;

use super::super::ServerConfig;
use super::support::{GET, Server, announces_close, assert_bare, status, with};

#[tokio::test]
async fn connection_serves_sequential_requests() {
    let (_server, mut client) = Server::start_default_with_client().await;
    for _ in 0..3 {
        client.send(GET).await;
        let response = client.response().await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
        assert!(response.ends_with("\r\n\r\nGET /"), "{response}");
        assert!(!response.contains("connection:"), "{response}");
    }
}

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    for size in [0, 15_000] {
        let (_server, mut client) = Server::start_default_with_client().await;
        let request = |path: usize| format!("GET /{path} HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(size));
        client.send((0..40).map(request).collect::<String>()).await;
        for path in 0..40 {
            assert!(client.response().await.ends_with(&format!("GET /{path}")));
        }
    }
}

#[tokio::test]
async fn connection_closes_as_client_expects() {
    let server = Server::start_default().await;
    let response = server.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(status(&response) == "200" && announces_close(&response), "{response}");
    let response = server.exchange("GET / HTTP/1.0\r\n\r\n").await;
    assert!(response.starts_with("HTTP/1.0 200 OK\r\n"), "{response}");
}

#[tokio::test]
async fn http_1_0_supports_keep_alive() {
    let (_server, mut client) = Server::start_default_with_client().await;
    for _ in 0..2 {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").await;
        assert!(client.response().await.contains("\r\nconnection: keep-alive\r\n"));
    }
}

#[tokio::test]
async fn other_forms_of_target_reach_the_service() {
    let server = Server::start_default().await;
    for line in ["GET http://a/x?y HTTP/1.1", "GET http://a HTTP/1.1", "OPTIONS * HTTP/1.1", "CONNECT a:443 HTTP/1.1"] {
        let mut client = server.connect().await;
        client.send(format!("{line}\r\nHost: a\r\nConnection: close\r\n\r\n")).await;
        let response = client.read_to_end().await;
        assert_eq!(status(&response), "200", "{line}: {response}");
    }
    assert_eq!(server.reached(), 4);
}

#[tokio::test]
async fn target_not_allowed_for_method_returns_400() {
    let server = Server::start_default().await;
    for line in ["GET a:80 HTTP/1.1", "GET * HTTP/1.1", "OPTIONS a:80 HTTP/1.1"] {
        assert_bare(&server.exchange(format!("{line}\r\nHost: a\r\n\r\n")).await, "400");
    }
    assert_eq!(server.reached(), 0);
}

#[tokio::test]
async fn upgrade_is_ignored() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n").await;
    assert_eq!(status(&client.response().await), "200");
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert_eq!(status(&client.read_to_end().await), "200");
}

#[tokio::test]
async fn connections_beyond_limit_wait_for_free_slot() {
    // No connection is evicted, however long a slow machine pauses.
    let config = with(ServerConfig::default(), |c| {
        c.limits.connections = 1;
        c.timeouts.reclaim = Duration::MAX;
    });
    let server = Server::start(config).await;
    let mut first = server.connect().await;
    first.assert_served().await;
    let mut second = server.connect().await;
    second.send(GET).await;
    for _ in 0..20 {
        first.assert_served().await;
    }
    assert_eq!(server.reached(), 21);
    drop(first);
    assert_eq!(status(&second.response().await), "200");
}
