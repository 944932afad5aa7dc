//! A server at its connection limit.

use std::future::pending;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::pace::at_any_pace;
use super::support::{BIG_RESPONSE_BYTES, Client, GET, SHORT_TIMEOUT, Server, status, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

async fn limited_to(connections: u32) -> Server {
    Server::start(with(long_timeouts(), |c| {
        c.limits.connections = connections;
        c.timeouts.reclaim = SHORT_TIMEOUT;
        c.timeouts.request = LONG_TIMEOUT;
    }))
    .await
}

#[tokio::test]
async fn a_head_that_trickles_in_is_evicted_too() {
    let server = limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET / HTTP/1.1\r\nHo").await;
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.response().await), "200");
    assert_eq!(slow.end().await, b"");
}

#[tokio::test]
async fn of_idle_connections_the_one_that_is_idle_longest_is_evicted() {
    let server = limited_to(2).await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    for client in [&mut first, &mut second] {
        client.send(GET).await;
        client.response().await;
    }
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.response().await), "200");
    assert_eq!(first.read_to_end().await, "");
    second.send(GET).await;
    assert_eq!(status(&second.response().await), "200");
}

#[tokio::test]
async fn whoever_is_being_answered_stays() {
    let server = limited_to(1).await;
    let mut busy = server.connect().await;
    busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.arrival().await;
    let mut next: Client = server.connect().await;
    next.send(GET).await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, server.arrival()).await.expect_err("there is no permit for the other");
    server.open_gate();
    assert!(busy.response().await.ends_with("passed"));
    assert_eq!(status(&next.response().await), "200");
}

#[tokio::test]
async fn silent_clients_keep_nobody_out() {
    let server = limited_to(8).await;
    let mut connect_silent = Vec::new();
    for _ in 0..100 {
        connect_silent.push(server.connect().await);
    }
    let mut client = server.connect().await;
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
}

/// Starts a server that may evict every connection immediately, so that only the order decides.
async fn start_without_reclaim_delay(connections: u32) -> Server {
    let config = with(long_timeouts(), |c| {
        c.limits.connections = connections;
        c.timeouts.reclaim = Duration::ZERO;
        c.timeouts.linger = LONG_TIMEOUT;
        c.timeouts.request = LONG_TIMEOUT;
    });
    Server::start(config).await
}

/// Returns an accepted connection without a request.
async fn connect_silent(server: &Server) -> Client {
    let before = server.metrics.accepted();
    let client = server.connect().await;
    let accepted = async {
        while server.metrics.accepted() == before {
            tokio::task::yield_now().await;
        }
    };
    with_timeout(accepted).await;
    client
}

/// Returns a connection that is closed on the server's side, but not on the client's.
async fn connect_lingering(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send("BAD\r\n\r\n").await;
    assert_eq!(status(&client.read_to_end().await), "400");
    client
}

/// Returns a connection whose request has reached the server, without the body that the service wants.
async fn connect_with_awaited_body(server: &Server, path: &str) -> Client {
    let mut client = server.connect().await;
    let fields = "Host: a\r\nContent-Length: 5\r\nExpect: 100-continue";
    client.send(format!("POST {path}?body HTTP/1.1\r\n{fields}\r\n\r\n")).await;
    assert_eq!(client.line().await, "HTTP/1.1 100 Continue\r\n");
    client.line().await;
    client
}

/// Returns a connection that has had a response.
async fn connect_used(server: &Server) -> Client {
    let mut client = server.connect().await;
    assert_stays(&mut client).await;
    client
}

/// Asserts that the connection gets a response, so it was not evicted.
async fn assert_stays(client: &mut Client) {
    client.send(GET).await;
    assert_eq!(status(&client.response().await), "200");
}

/// Sends a byte at intervals, for as long as this is polled.
async fn dribble(client: &mut Client) {
    let mut ticks = tokio::time::interval(SHORT_TIMEOUT / 10);
    loop {
        ticks.tick().await;
        if client.0.write_all(b"1").await.is_err() {
            pending::<()>().await;
        }
    }
}

#[tokio::test]
async fn wanted_body_that_never_arrives_is_evicted() {
    let server = limited_to(1).await;
    let mut slow = connect_with_awaited_body(&server, "/echo").await;
    connect_used(&server).await;
    assert_eq!(slow.end().await, b"");
    assert_eq!(server.reached(), 1);
}

#[tokio::test]
async fn wanted_body_that_trickles_in_is_evicted() {
    let server = limited_to(1).await;
    for framing in ["Content-Length: 10000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n2000\r\n"] {
        let mut slow = server.connect().await;
        slow.send(format!("POST /echo?body HTTP/1.1\r\nHost: a\r\n{framing}")).await;
        tokio::select! {
            () = dribble(&mut slow) => {}
            _ = connect_used(&server) => {}
        }
    }
}

#[tokio::test]
async fn request_stays_once_its_wanted_body_has_arrived() {
    let server = limited_to(1).await;
    let mut busy = connect_with_awaited_body(&server, "/gate").await;
    busy.send("hello").await;
    server.arrival().await;
    let mut next = server.connect().await;
    next.send(GET).await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, server.arrival()).await.expect_err("there is no permit for the other");
    server.open_gate();
    assert!(busy.response().await.ends_with("passed"));
    assert_eq!(status(&next.response().await), "200");
}

#[tokio::test]
async fn wanted_bodies_that_never_arrive_keep_nobody_out() {
    let server = limited_to(8).await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        slow.push(connect_with_awaited_body(&server, "/echo").await);
    }
    connect_used(&server).await;
}

#[tokio::test]
async fn a_further_head_that_dribbles_in_is_evicted() {
    let server = limited_to(1).await;
    let mut slow = connect_used(&server).await;
    slow.send("GET /").await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = connect_used(&server) => {}
    }
}

#[tokio::test]
async fn an_answer_that_nobody_takes_is_evicted() {
    let server = limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    connect_used(&server).await;
    assert!(slow.end().await.len() < BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn answers_that_nobody_takes_are_evicted_with_requests_behind_them() {
    let server = limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send([b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n", GET, GET, GET].concat()).await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = connect_used(&server) => {}
    }
    assert!(slow.end().await.len() < BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn an_answer_that_is_taken_too_slowly_is_evicted() {
    let server = limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let sip = async {
        let mut ticks = tokio::time::interval(SHORT_TIMEOUT / 10);
        loop {
            ticks.tick().await;
            if slow.0.read_u8().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = sip => {}
        _ = connect_used(&server) => {}
    }
}

#[tokio::test]
async fn a_connection_that_has_asked_for_nothing_is_evicted_first() {
    // With a reclaim time, a connection that has waited that long would be evicted if this one had waited only slightly less.
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut connect_silent = connect_silent(&server).await;
    connect_used(&server).await;
    assert_eq!(connect_silent.read_to_end().await, "");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn connection_that_is_closed_and_only_lingers_is_evicted_before_one_that_is_idle_longer() {
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut closed = connect_lingering(&server).await;
    connect_used(&server).await;
    assert_eq!(closed.end().await, b"");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn a_slow_head_is_evicted_before_whoever_has_asked_since_it_began() {
    let server = start_without_reclaim_delay(2).await;
    let mut busy = connect_used(&server).await;
    let mut slow = connect_used(&server).await;
    slow.send([GET, b"GET / HTTP/1.1\r\nHo"].concat()).await;
    slow.response().await;
    assert_stays(&mut busy).await;
    connect_used(&server).await;
    assert_eq!(slow.end().await, b"");
    assert_stays(&mut busy).await;
}

#[tokio::test]
async fn wanted_body_is_evicted_before_a_connection_that_is_idle_longer() {
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut body = connect_with_awaited_body(&server, "/echo").await;
    connect_used(&server).await;
    assert_eq!(body.end().await, b"");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn of_wanted_bodies_the_one_whose_head_came_first_is_evicted_whenever_a_byte_came() {
    let server = start_without_reclaim_delay(3).await;
    let mut idle = connect_used(&server).await;
    let mut first = connect_with_awaited_body(&server, "/echo").await;
    let mut second = connect_with_awaited_body(&server, "/echo").await;
    first.send("x").await;
    assert_stays(&mut idle).await;
    connect_used(&server).await;
    assert_eq!(first.end().await, b"");
    second.send("hello").await;
    assert!(second.response().await.ends_with("hello"));
}

#[tokio::test]
async fn slow_clients_that_come_again_keep_nobody_out() {
    let server = limited_to(8).await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        slow.push(connect_with_awaited_body(&server, "/echo").await);
    }
    for _ in 0..8 {
        slow.push(connect_lingering(&server).await);
    }
    connect_used(&server).await;
}

#[tokio::test]
async fn an_answer_that_moves_stays_however_long_it_takes() {
    at_any_pace(|time| async move {
        let evict = 4 * time;
        let server = Server::start(with(long_timeouts(), |c| {
            c.limits.connections = 1;
            c.timeouts.reclaim = evict;
        }))
        .await;
        let mut reader = server.connect().await;
        reader.send("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        let read = async {
            let mut ticks = tokio::time::interval(time);
            let mut part = vec![0; BIG_RESPONSE_BYTES / 8];
            for _ in 0..8 {
                ticks.tick().await;
                with_timeout(reader.0.read_exact(&mut part)).await.unwrap();
            }
            assert!(!reader.read_to_end().await.is_empty());
            drop(reader);
        };
        tokio::join!(read, connect_used(&server));
    })
    .await;
}
