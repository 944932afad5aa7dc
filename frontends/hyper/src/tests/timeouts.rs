//! Connections that are silent or slow.

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;

use super::super::ServerConfig;
use super::pace::{assert_lasted, at_any_pace};
use super::support::{BIG_RESPONSE_BYTES, Client, GET, SHORT_TIMEOUT, Server, status, with, with_timeout};
use crate::Timeouts;

/// A time that does not end within a test.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(600);

/// Returns a configuration in which heads, idle connections and stalled requests do not time out within a test.
pub(super) fn long_timeouts() -> ServerConfig {
    with(ServerConfig::default(), |c| {
        c.timeouts.head = LONG_TIMEOUT;
        c.timeouts.idle = LONG_TIMEOUT;
        c.timeouts.stall = LONG_TIMEOUT;
    })
}

/// Asserts that the connection ends silently after `time`, and not before, and is counted for `reason`.
async fn assert_ends(server: &Server, client: &mut Client, since: Instant, time: Duration, reason: &str) {
    assert_eq!(client.end().await, b"", "{reason}");
    assert_lasted(since, time);
    assert_eq!(server.closed_count(reason).await, 1);
}

#[tokio::test]
async fn maximum_timeouts_do_not_overflow() {
    let config = with(ServerConfig::default(), |c| {
        let longest = Duration::MAX;
        c.timeouts = Timeouts {
            head: longest,
            idle: longest,
            stall: longest,
            request: longest,
            linger: longest,
            grace: longest,
            last_request: longest,
            reclaim: longest,
        };
        c.limits.outstanding_streams = u32::MAX;
    });
    let (_server, mut client) = Server::start_with_client(config).await;
    for _ in 0..2 {
        client.assert_served().await;
    }
}

#[tokio::test]
async fn silent_client_or_service_ends_connection() {
    at_any_pace(|time| async move {
        for (request, reason) in [
            ("", "idle"),
            ("GET / HTTP/1.1\r\nHo", "slow_head"),
            ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel", "stalled"),
            ("GET /never HTTP/1.1\r\nHost: a\r\n\r\n", "stalled"),
        ] {
            let server = Server::start(with(long_timeouts(), |c| match reason {
                "idle" => c.timeouts.idle = time,
                "slow_head" => c.timeouts.head = time,
                _ => c.timeouts.stall = time,
            }))
            .await;
            let since = Instant::now();
            let mut client = server.connect().await;
            client.send(request).await;
            assert_ends(&server, &mut client, since, time, reason).await;
        }
    })
    .await;
}

#[tokio::test]
async fn used_connection_ends_after_idle_timeout() {
    at_any_pace(|time| async move {
        let (server, mut client) = Server::start_with_client(with(long_timeouts(), |c| c.timeouts.idle = time)).await;
        client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
        server.wait_for_request().await;
        let since = Instant::now();
        server.open_gate();
        client.response().await;
        assert_ends(&server, &mut client, since, time, "idle").await;
    })
    .await;
}

#[tokio::test]
async fn trickling_head_does_not_extend_timeout() {
    let (server, mut client) =
        Server::start_with_client(with(long_timeouts(), |c| c.timeouts.head = SHORT_TIMEOUT)).await;
    tokio::select! {
        () = client.dribble() => {}
        closed = server.closed_count("slow_head") => assert_eq!(closed, 1),
    }
    assert_eq!(client.end().await, b"");
}

#[tokio::test]
async fn unfinished_pipelined_head_ends_connection() {
    at_any_pace(|time| async move {
        let (server, mut client) = Server::start_with_client(with(long_timeouts(), |c| c.timeouts.head = time)).await;
        let since = Instant::now();
        client.send([GET, GET, b"GET / HTTP/1.1\r\nH"].concat()).await;
        assert_eq!(status(&client.response().await), "200");
        assert_eq!(status(&client.response().await), "200");
        // A head that arrived with earlier requests has the timeout of an idle connection until its next byte.
        client.send("o").await;
        assert_ends(&server, &mut client, since, time, "slow_head").await;
    })
    .await;
}

#[tokio::test]
async fn slow_head_is_followed_by_idle_timeout() {
    at_any_pace(|time| async move {
        let head_time = 6 * time;
        let server = Server::start(with(long_timeouts(), |c| {
            c.timeouts.head = head_time;
            c.timeouts.idle = 2 * head_time;
        }))
        .await;
        let mut client = server.connect().await;
        for byte in GET {
            client.send([*byte]).await;
        }
        client.response().await;
        let since = Instant::now();
        client.end().await;
        assert_lasted(since, head_time);
    })
    .await;
}

#[tokio::test]
async fn progressing_body_does_not_time_out() {
    at_any_pace(|time| async move {
        let stall_time = 8 * time;
        let (_server, mut client) =
            Server::start_with_client(with(long_timeouts(), |c| c.timeouts.stall = stall_time)).await;
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n").await;
        let since = Instant::now();
        let mut ticks = tokio::time::interval(time);
        for _ in 0..10 {
            ticks.tick().await;
            client.send("x").await;
        }
        assert_lasted(since, stall_time);
        assert!(client.response().await.ends_with("xxxxxxxxxx"));
    })
    .await;
}

#[tokio::test]
async fn unread_response_ends_connection() {
    let server = Server::start(with(long_timeouts(), |c| {
        c.timeouts.stall = SHORT_TIMEOUT;
        c.limits.connections = 1;
    }))
    .await;
    let mut client = server.connect().await;
    client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n").await;
    // The next connection is accepted when the first has ended.
    let mut next = server.connect().await;
    next.assert_served().await;
    assert!(client.end().await.len() < BIG_RESPONSE_BYTES);
}

#[tokio::test]
async fn progressing_response_does_not_time_out() {
    at_any_pace(|time| async move {
        let (_server, mut client) =
            Server::start_with_client(with(long_timeouts(), |c| c.timeouts.stall = 4 * time)).await;
        client.send("GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        let since = Instant::now();
        let mut ticks = tokio::time::interval(time);
        let mut part = vec![0; BIG_RESPONSE_BYTES / 8];
        let mut read = 0;
        for _ in 0..8 {
            ticks.tick().await;
            with_timeout(client.0.read_exact(&mut part)).await.unwrap();
            read += part.len();
        }
        read += client.read_to_end().await.len();
        assert!(read > BIG_RESPONSE_BYTES);
        assert_lasted(since, 4 * time);
    })
    .await;
}
