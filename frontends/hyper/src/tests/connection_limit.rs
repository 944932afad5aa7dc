//! A server at its connection limit.

use std::future::pending;
use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::pace::at_any_pace;
use super::support::{BIG_RESPONSE_BYTES, Client, GET, SHORT_TIMEOUT, Server, status, until, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

async fn start_limited_to(connections: u32) -> Server {
    Server::start(with(long_timeouts(), |c| {
        c.limits.connections = connections;
        c.timeouts.reclaim = SHORT_TIMEOUT;
        c.timeouts.request = LONG_TIMEOUT;
    }))
    .await
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
    until(|| server.metrics.accepted() > before).await;
    client
}

/// Returns a connection that is closed on the server's side, but not on the client's.
async fn connect_lingering(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send("BAD\r\n\r\n").await;
    assert_eq!(status(&client.read_to_end().await), "400");
    client
}

/// Returns a connection that has had a response.
async fn connect_used(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.assert_served().await;
    client
}

#[tokio::test]
async fn client_that_keeps_server_waiting_is_evicted() {
    const BIG: &[u8] = b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n";
    let pipelined = [BIG, GET, GET, GET].concat();
    // Requests that the client sends one after the other, and whether it goes on sending single bytes.
    let cases: [(&str, &[&[u8]], bool); 7] = [
        ("a part of a head", &[b"GET / HTTP/1.1\r\nHo"], false),
        ("a part of a second head", &[GET, b"GET /"], true),
        ("no body", &[b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"], false),
        ("a slow body", &[b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n"], true),
        ("a slow chunk", &[b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n"], true),
        ("an unread response", &[BIG], false),
        ("unread pipelined responses", &[&pipelined], true),
    ];
    for (name, requests, dribbles) in cases {
        let server = start_limited_to(1).await;
        let mut slow = server.connect().await;
        slow.send(requests[0]).await;
        for request in &requests[1..] {
            slow.response().await;
            slow.send(request).await;
        }
        tokio::select! {
            () = slow.dribble(), if dribbles => {}
            _ = connect_used(&server) => {}
        }
        let received = slow.end().await;
        assert!(received.is_empty() || name.contains("unread") && received.len() < BIG_RESPONSE_BYTES, "{name}");
    }
}

#[tokio::test]
async fn longest_idle_connection_is_evicted() {
    let server = start_limited_to(2).await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    for client in [&mut first, &mut second] {
        client.assert_served().await;
    }
    let mut next = server.connect().await;
    next.assert_served().await;
    assert_eq!(first.read_to_end().await, "");
    second.assert_served().await;
}

#[tokio::test]
async fn running_request_is_not_evicted() {
    for has_body in [false, true] {
        let server = start_limited_to(1).await;
        let mut busy = if has_body { server.connect_awaiting_body("/gate?body").await } else { server.connect().await };
        busy.send(if has_body { "hello" } else { "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n" }).await;
        server.wait_for_request().await;
        let mut next = server.connect().await;
        next.send(GET).await;
        tokio::time::timeout(3 * SHORT_TIMEOUT, server.wait_for_request()).await.expect_err("the server is full");
        server.open_gate();
        assert!(busy.response().await.ends_with("passed"));
        assert_eq!(status(&next.response().await), "200");
    }
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
async fn idle_connection_is_evicted_last() {
    for state in ["silent", "lingering", "without body"] {
        // After a delay, for a moment only `idle` might have waited long enough, and would be evicted.
        let server = start_without_reclaim_delay(2).await;
        let mut idle = connect_used(&server).await;
        let mut other = match state {
            "silent" => connect_silent(&server).await,
            "lingering" => connect_lingering(&server).await,
            _ => server.connect_awaiting_body("/echo").await,
        };
        connect_used(&server).await;
        assert_eq!(other.end().await, b"", "{state}");
        idle.assert_served().await;
    }
}

#[tokio::test]
async fn slow_head_is_evicted_before_more_recent_request() {
    let server = start_without_reclaim_delay(2).await;
    let mut busy = connect_used(&server).await;
    let mut slow = connect_used(&server).await;
    slow.send([GET, b"GET / HTTP/1.1\r\nHo"].concat()).await;
    slow.response().await;
    busy.assert_served().await;
    connect_used(&server).await;
    assert_eq!(slow.end().await, b"");
    busy.assert_served().await;
}

#[tokio::test]
async fn missing_body_with_oldest_head_is_evicted_first() {
    let server = start_without_reclaim_delay(3).await;
    let mut idle = connect_used(&server).await;
    let mut first = server.connect_awaiting_body("/echo").await;
    let mut second = server.connect_awaiting_body("/echo").await;
    first.send("x").await;
    idle.assert_served().await;
    connect_used(&server).await;
    assert_eq!(first.end().await, b"");
    second.send("hello").await;
    assert!(second.response().await.ends_with("hello"));
}

#[tokio::test]
async fn many_waiting_clients_do_not_block_others() {
    let server = start_limited_to(8).await;
    let mut waiting = Vec::new();
    for _ in 0..100 {
        waiting.push(server.connect().await);
    }
    connect_used(&server).await;
    for _ in 0..40 {
        waiting.push(server.connect_awaiting_body("/echo").await);
    }
    connect_used(&server).await;
    for _ in 0..8 {
        waiting.push(connect_lingering(&server).await);
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
