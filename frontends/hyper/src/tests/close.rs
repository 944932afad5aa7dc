//! How connections end.

use tokio::io::AsyncWriteExt;

use super::super::ServerConfig;
use super::support::{BIG_RESPONSE_BYTES, Client, SHORT_TIMEOUT, Server, status, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

#[tokio::test]
async fn half_closed_client_gets_response() {
    let (server, mut client) = Server::start_default_with_client().await;
    client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.finish().await;
    server.wait_for_request().await;
    server.open_gate();
    assert!(client.read_to_end().await.ends_with("passed"));
}

#[tokio::test]
async fn half_closed_client_gets_whole_large_response() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.finish().await;
    assert!(client.read_to_end().await.len() > BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn client_that_leaves_without_request_frees_its_slot() {
    let server = Server::start(with(ServerConfig::default(), |c| c.limits.connections = 1)).await;
    drop(server.connect().await);
    let mut half_head = server.connect().await;
    half_head.send("GET / HT").await;
    drop(half_head);
    let mut client = server.connect().await;
    client.assert_served().await;
}

#[tokio::test]
async fn refusal_arrives_despite_unread_bytes() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send("bad\r\n\r\n".to_owned() + &"x".repeat(4 * 1024 * 1024)).await;
    assert_eq!(status(&client.read_to_end().await), "400");
}

#[tokio::test]
async fn connection_left_open_by_client_ends_after_linger_timeout() {
    let config = with(ServerConfig::default(), |c| {
        c.limits.connections = 1;
        c.timeouts.linger = SHORT_TIMEOUT;
    });
    let server = Server::start(config).await;
    let mut first = server.connect().await;
    first.send("GET / HTTP/1.0\r\n\r\n").await;
    assert_eq!(status(&first.read_to_end().await), "200");
    let mut second = server.connect().await;
    second.assert_served().await;
}

#[tokio::test]
async fn endless_sender_is_disconnected_after_refusal() {
    let config = with(ServerConfig::default(), |c| {
        c.timeouts.linger = SHORT_TIMEOUT;
    });
    let (_server, mut client) = Server::start_with_client(config).await;
    client.send("bad\r\n\r\n").await;
    send_without_end(&mut client).await;
}

#[tokio::test]
async fn timed_out_request_does_not_linger_for_body() {
    let config = with(long_timeouts(), |c| {
        c.timeouts.request = SHORT_TIMEOUT;
        c.timeouts.linger = LONG_TIMEOUT;
    });
    let (_server, mut client) = Server::start_with_client(config).await;
    client.send("POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n").await;
    send_without_end(&mut client).await;
}

/// Sends until the server accepts no more.
async fn send_without_end(client: &mut Client) {
    with_timeout(async { while client.0.write_all(&[0; 64 * 1024]).await.is_ok() {} }).await;
}
