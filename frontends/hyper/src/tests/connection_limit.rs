//! A server at its connection limit.

use std::future::pending;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::pace::at_any_pace;
use super::support::{BIG_RESPONSE_BYTES, Client, GET, SHORT_TIMEOUT, Server, status, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

async fn start_limited_to(connections: u32) -> Server {
    Server::start(with(long_timeouts(), |c| {
        c.limits.connections = connections;
        c.timeouts.reclaim = SHORT_TIMEOUT;
        c.timeouts.request = LONG_TIMEOUT;
    }))
    .await
}

#[tokio::test]
async fn slow_head_is_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET / HTTP/1.1\r\nHo").await;
    let mut next = server.connect().await;
    next.send(GET).await;
    assert_eq!(status(&next.response().await), "200");
    assert_eq!(slow.end().await, b"");
}

#[tokio::test]
async fn longest_idle_connection_is_evicted() {
    let server = start_limited_to(2).await;
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
async fn connection_with_running_request_is_not_evicted() {
    let server = start_limited_to(1).await;
    let mut busy = server.connect().await;
    busy.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.wait_for_request().await;
    let mut next: Client = server.connect().await;
    next.send(GET).await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, server.wait_for_request()).await.expect_err("the server is full");
    server.open_gate();
    assert!(busy.response().await.ends_with("passed"));
    assert_eq!(status(&next.response().await), "200");
}

#[tokio::test]
async fn silent_clients_do_not_block_others() {
    let server = start_limited_to(8).await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(server.connect().await);
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

/// Returns a connection with a request whose body the service awaits.
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
async fn missing_body_is_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = connect_with_awaited_body(&server, "/echo").await;
    connect_used(&server).await;
    assert_eq!(slow.end().await, b"");
    assert_eq!(server.reached(), 1);
}

#[tokio::test]
async fn slow_body_is_evicted() {
    let server = start_limited_to(1).await;
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
async fn request_is_not_evicted_when_body_has_arrived() {
    let server = start_limited_to(1).await;
    let mut busy = connect_with_awaited_body(&server, "/gate").await;
    busy.send("hello").await;
    server.wait_for_request().await;
    let mut next = server.connect().await;
    next.send(GET).await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, server.wait_for_request()).await.expect_err("the server is full");
    server.open_gate();
    assert!(busy.response().await.ends_with("passed"));
    assert_eq!(status(&next.response().await), "200");
}

#[tokio::test]
async fn missing_bodies_do_not_block_others() {
    let server = start_limited_to(8).await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        slow.push(connect_with_awaited_body(&server, "/echo").await);
    }
    connect_used(&server).await;
}

#[tokio::test]
async fn slow_second_head_is_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = connect_used(&server).await;
    slow.send("GET /").await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = connect_used(&server) => {}
    }
}

#[tokio::test]
async fn unread_response_is_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    connect_used(&server).await;
    assert!(slow.end().await.len() < BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn unread_pipelined_responses_are_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send([b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n", GET, GET, GET].concat()).await;
    tokio::select! {
        () = dribble(&mut slow) => {}
        _ = connect_used(&server) => {}
    }
    assert!(slow.end().await.len() < BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn slowly_read_response_is_evicted() {
    let server = start_limited_to(1).await;
    let mut slow = server.connect().await;
    slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let read_slowly = async {
        let mut ticks = tokio::time::interval(SHORT_TIMEOUT / 10);
        loop {
            ticks.tick().await;
            if slow.0.read_u8().await.is_err() {
                pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = read_slowly => {}
        _ = connect_used(&server) => {}
    }
}

#[tokio::test]
async fn connection_without_request_is_evicted_first() {
    // After a delay, for a moment only `idle` might have waited long enough, and would be evicted.
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut silent = connect_silent(&server).await;
    connect_used(&server).await;
    assert_eq!(silent.read_to_end().await, "");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn lingering_connection_is_evicted_before_idle_one() {
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut closed = connect_lingering(&server).await;
    connect_used(&server).await;
    assert_eq!(closed.end().await, b"");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn slow_head_is_evicted_before_more_recent_request() {
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
async fn missing_body_is_evicted_before_idle_connection() {
    let server = start_without_reclaim_delay(2).await;
    let mut idle = connect_used(&server).await;
    let mut body = connect_with_awaited_body(&server, "/echo").await;
    connect_used(&server).await;
    assert_eq!(body.end().await, b"");
    assert_stays(&mut idle).await;
}

#[tokio::test]
async fn missing_body_with_oldest_head_is_evicted_first() {
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
async fn reconnecting_slow_clients_do_not_block_others() {
    let server = start_limited_to(8).await;
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
async fn progressing_response_is_not_evicted() {
    at_any_pace(|time| async move {
        let reclaim = 4 * time;
        let server = Server::start(with(long_timeouts(), |c| {
            c.limits.connections = 1;
            c.timeouts.reclaim = reclaim;
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
