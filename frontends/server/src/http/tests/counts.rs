//! What is counted of connections.

use super::super::Limits;
use super::support::{GET, SHORT, Server, soon, status};
use super::timeouts::patient;

/// How many connections have ended for that reason; waited for, as a client sees the end a little earlier.
async fn ended(server: &Server, reason: &str) -> u64 {
    let count = || server.counts.ended().find(|(name, _)| *name == reason).unwrap().1;
    soon(async {
        while count() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(server.counts.open(), 0);
    count()
}

#[tokio::test]
async fn open_connections_and_those_that_clients_close() {
    let server = Server::usual().await;
    let mut clients = [server.connect().await, server.connect().await];
    for client in &mut clients {
        client.send(GET).await;
        client.answer().await;
    }
    assert_eq!((server.counts.accepted(), server.counts.open()), (2, 2));
    drop(clients);
    while server.counts.open() > 0 {
        soon(tokio::task::yield_now()).await;
    }
    assert_eq!(ended(&server, "closed").await, 2);
}

#[tokio::test]
async fn timeouts_by_their_reason() {
    let server = Server::start(Limits { idle_time: SHORT, ..patient() }).await;
    server.connect().await.end().await;
    assert_eq!(ended(&server, "idle").await, 1);
    let server = Server::start(Limits { head_time: SHORT, ..patient() }).await;
    let mut client = server.connect().await;
    client.send("GET / HT").await;
    client.end().await;
    assert_eq!(ended(&server, "slow_head").await, 1);
}

#[tokio::test]
async fn answers_of_the_loop_itself() {
    let server = Server::usual().await;
    assert_eq!(status(&server.exchange("GET / HTTP/1.1\r\n\r\n").await), "400");
    assert_eq!(status(&server.exchange("nonsense\r\n\r\n").await), "400");
    server.exchange("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!((server.counts.malformed(), server.counts.panics()), (2, 1));
}
