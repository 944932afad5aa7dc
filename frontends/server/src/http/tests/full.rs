//! A server with as many connections as there may be.

use std::{future::pending, time::Duration};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    Limits,
    support::{BIG, Client, GET, SHORT, Server, soon, status},
    timeouts::{LONG, patient},
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

/// Where everybody may give way at once, only the order decides who does.
async fn without_patience(connections: u32) -> Server {
    let limits = Limits { connections, yield_time: Duration::ZERO, linger_time: LONG, ..patient() };
    Server::start(limits).await
}

/// A connection that is closed on the server's side, and not on the client's.
async fn lingering(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send("BAD\r\n\r\n").await;
    assert_eq!(status(&client.rest().await), "400");
    client
}

/// A connection that has its answer, but still sends a body.
async fn with_body(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n").await;
    assert_eq!(status(&client.answer().await), "200");
    client
}

/// A connection that has been answered.
async fn used(server: &Server) -> Client {
    let mut client = server.connect().await;
    assert_stays(&mut client).await;
    client
}

/// Asserts that the connection is answered, and so was not the one to give way.
async fn assert_stays(client: &mut Client) {
    client.send(GET).await;
    assert_eq!(status(&client.answer().await), "200");
}

/// Sends a byte now and then, for as long as this is polled.
async fn dribble(client: &mut Client) {
    let mut ticks = tokio::time::interval(SHORT / 10);
    loop {
        ticks.tick().await;
        if client.0.write_all(b"1").await.is_err() {
            pending::<()>().await;
        }
    }
}

#[tokio::test]
async fn a_body_that_dribbles_in_gives_way() {
    let server = with_places(1).await;
    let mut slow = with_body(&server).await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = used(&server) => {}
    }
}

#[tokio::test]
async fn chunks_that_dribble_in_give_way() {
    let server = with_places(1).await;
    let mut slow = server.connect().await;
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    slow.answer().await;
    tokio::select! {
        // In an extension of the first chunk: its length would soon be too large.
        () = async { slow.send("1;").await; dribble(&mut slow).await } => {}
        _ = used(&server) => {}
    }
}

#[tokio::test]
async fn a_further_head_that_dribbles_in_gives_way() {
    let server = with_places(1).await;
    let mut slow = used(&server).await;
    slow.send("GET /").await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = used(&server) => {}
    }
}

#[tokio::test]
async fn an_answer_that_nobody_takes_gives_way() {
    let server = with_places(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    used(&server).await;
    assert!(slow.end().await.len() < BIG);
}

#[tokio::test]
async fn answers_that_nobody_takes_give_way_with_requests_behind_them() {
    let server = with_places(1).await;
    let mut slow = server.connect().await;
    slow.send([b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n", GET, GET, GET].concat()).await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = used(&server) => {}
    }
    assert!(slow.end().await.len() < BIG);
}

#[tokio::test]
async fn an_answer_that_is_taken_too_slowly_gives_way() {
    let server = with_places(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let sip = async {
        let mut ticks = tokio::time::interval(SHORT / 10);
        loop {
            ticks.tick().await;
            if slow.0.read_u8().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = sip => {}
        _ = used(&server) => {}
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_and_only_lingers_gives_way_first() {
    let server = without_patience(2).await;
    let mut silent = server.connect().await;
    let mut closed = lingering(&server).await;
    used(&server).await;
    assert_stays(&mut silent).await;
    assert_eq!(closed.end().await, b"");
}

#[tokio::test]
async fn a_connection_that_has_asked_for_nothing_gives_way_before_one_with_a_body() {
    let server = without_patience(3).await;
    let mut body = with_body(&server).await;
    let mut silent = server.connect().await;
    // The one before has its place when this one is answered.
    let _idle = used(&server).await;
    used(&server).await;
    assert_eq!(silent.rest().await, "");
    body.send([b'x'; 60_000]).await;
    assert_stays(&mut body).await;
}

#[tokio::test]
async fn a_connection_with_a_body_gives_way_before_one_that_is_idle() {
    let server = without_patience(2).await;
    let mut idle = used(&server).await;
    let mut body = with_body(&server).await;
    used(&server).await;
    assert_eq!(body.rest().await, "");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn of_bodies_the_one_that_has_lasted_longest_gives_way_whenever_a_byte_came() {
    let server = without_patience(3).await;
    let mut idle = used(&server).await;
    let mut first = with_body(&server).await;
    let mut second = with_body(&server).await;
    first.send("x").await;
    assert_stays(&mut idle).await;
    used(&server).await;
    assert_eq!(first.end().await, b"");
    second.send([b'x'; 60_000]).await;
    assert_stays(&mut second).await;
}

#[tokio::test]
async fn a_slow_head_gives_way_before_whoever_has_asked_since_it_began() {
    let server = without_patience(2).await;
    let mut busy = used(&server).await;
    let mut slow = used(&server).await;
    slow.send([GET, b"GET / HTTP/1.1\r\nHo"].concat()).await;
    slow.answer().await;
    assert_stays(&mut busy).await;
    used(&server).await;
    assert_eq!(slow.end().await, b"");
    assert_stays(&mut busy).await;
}

#[tokio::test]
async fn slow_clients_that_come_again_keep_nobody_out() {
    let server = with_places(8).await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        slow.push(with_body(&server).await);
    }
    for _ in 0..8 {
        slow.push(lingering(&server).await);
    }
    used(&server).await;
}

#[tokio::test]
async fn an_answer_that_moves_stays_however_long_it_takes() {
    let yield_time = 4 * SHORT;
    let server = Server::start(Limits { connections: 1, yield_time, ..patient() }).await;
    let mut reader = server.connect().await;
    reader.send("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    let read = async {
        let mut ticks = tokio::time::interval(SHORT);
        let mut part = vec![0; BIG / 8];
        for _ in 0..8 {
            ticks.tick().await;
            soon(reader.0.read_exact(&mut part)).await.unwrap();
        }
        assert!(!reader.rest().await.is_empty());
        drop(reader);
    };
    tokio::join!(read, used(&server));
}
