//! A service that panics.

use super::support::{GET, Server, assert_bare, status};

/// A panic of the service is answered, and ends nothing but the connection.
async fn assert_survived(path: &str) {
    let server = Server::usual().await;
    assert_bare(&server.exchange(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await, "500");
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.answer().await), "200");
}

#[tokio::test]
async fn in_its_call() {
    assert_survived("/panic-in-call").await;
}

#[tokio::test]
async fn in_its_future() {
    assert_survived("/panic").await;
}

#[tokio::test]
async fn in_its_future_after_a_while() {
    assert_survived("/panic-late").await;
}
