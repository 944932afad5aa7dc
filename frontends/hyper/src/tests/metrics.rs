//! Metrics of connections.

use super::http2::start_raw_http2;
use super::support::{Server, status, until};
use super::timeouts::long_timeouts;

#[tokio::test]
async fn open_and_closed_connections_are_counted() {
    let server = Server::start_default().await;
    let mut clients = [server.connect().await, server.connect().await];
    for client in &mut clients {
        client.assert_served().await;
    }
    assert_eq!((server.metrics.accepted(), server.metrics.open()), (2, 2));
    drop(clients);
    until(|| server.metrics.open() == 0).await;
    assert_eq!(server.closed_count("closed").await, 2);
}

#[tokio::test]
async fn only_reset_tls_connection_is_counted_as_failed() {
    for (is_reset, reason) in [(false, "closed"), (true, "failed")] {
        let (_authority, server, client) = start_raw_http2(long_timeouts()).await;
        let tcp = client.into_tcp().await;
        if is_reset {
            tcp.set_zero_linger().unwrap();
        }
        drop(tcp);
        assert_eq!(server.closed_count(reason).await, 1);
    }
}

#[tokio::test]
async fn connection_is_counted_as_failed_when_task_panics() {
    let (server, mut client) = Server::start_default_with_client().await;
    client.send("GET /panic-in-drop HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(client.end().await, b"");
    assert_eq!(server.closed_count("failed").await, 1);
}

#[tokio::test]
async fn malformed_requests_and_panics_are_counted() {
    let server = Server::start_default().await;
    assert_eq!(status(&server.exchange("GET / HTTP/1.1\r\n\r\n").await), "400");
    assert_eq!(status(&server.exchange("nonsense\r\n\r\n").await), "400");
    server.exchange("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((server.metrics.malformed(), server.metrics.panics()), (2, 1));
}
