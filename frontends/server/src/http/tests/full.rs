//! A server with as many connections as there may be.

use super::{
    Limits,
    support::{Client, GET, SHORT, Server, soon, status},
    timeouts::patient,
};

async fn with_places(connections: u32) -> Server {
    Server::start(Limits { connections, yield_time: SHORT, ..patient() }).await
}

#[tokio::test]
async fn a_connection_that_has_asked_for_nothing_gives_way_first() {
    let server = with_places(2).await;
    let mut used = server.connect().await;
    used.send(GET).await;
    used.answer().await;
    let mut silent = server.connect().await;
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.answer().await), "200");
    assert_eq!(silent.rest().await, "");
    used.send(GET).await;
    assert_eq!(status(&used.answer().await), "200");
}

#[tokio::test]
async fn a_head_that_trickles_in_gives_way_too() {
    let server = with_places(1).await;
    let mut slow = server.connect().await;
    slow.send("GET / HTTP/1.1\r\nHo").await;
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.answer().await), "200");
    assert_eq!(slow.end().await, b"");
}

#[tokio::test]
async fn of_idle_connections_the_one_that_is_idle_longest_gives_way() {
    let server = with_places(2).await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    for client in [&mut first, &mut second] {
        client.send(GET).await;
        client.answer().await;
    }
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.answer().await), "200");
    assert_eq!(first.rest().await, "");
    second.send(GET).await;
    assert_eq!(status(&second.answer().await), "200");
}

#[tokio::test]
async fn whoever_is_being_answered_stays() {
    let server = with_places(1).await;
    let mut busy = server.connect().await;
    busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.arrival().await;
    let mut next: Client = server.connect().await;
    next.send(GET).await;
    tokio::time::timeout(3 * SHORT, server.arrival()).await.expect_err("there is no place for the other");
    server.open_gate();
    assert!(busy.answer().await.ends_with("passed"));
    assert_eq!(status(&next.answer().await), "200");
}

#[tokio::test]
async fn silent_clients_keep_nobody_out() {
    let server = with_places(8).await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(server.connect().await);
    }
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.answer().await), "200");
}

#[tokio::test]
async fn whoever_waits_for_a_place_when_the_server_stops_is_answered() {
    let mut server = with_places(1).await;
    let mut busy = server.connect().await;
    busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.arrival().await;
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let mut client = server.connect().await;
        client.send(GET).await;
        waiting.push(client);
    }
    server.stop();
    soon(server.connect_refused()).await;
    server.open_gate();
    assert!(busy.answer().await.ends_with("passed"));
    for mut client in waiting {
        assert_eq!(status(&client.answer().await), "200");
    }
    server.stopped().await;
}
