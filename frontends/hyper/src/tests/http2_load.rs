//! HTTP/2 from clients that make the server work, or hold its resources, for nothing.

use std::collections::HashSet;
use std::time::Instant;

use super::ServerConfig;
use super::certificates::Authority;
use super::http2::{
    DATA, END_HEADERS, END_STREAM, HEADERS, Http2Client, RST_STREAM, RawHttp2Client, SETTINGS, assert_others_served,
    assert_served_again, frame, head_of, start_raw_http2,
};
use super::pace::at_any_pace;
use super::support::{BIG_RESPONSE_BYTES, SHORT_TIMEOUT, Server, until, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

// Types of frames.
const PRIORITY: u8 = 2;
const WINDOW_UPDATE: u8 = 8;
const PRIORITY_UPDATE: u8 = 16;
// Errors.
const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

/// Returns a frame that opens the window of the connection, or of a stream.
fn window_update(stream: u32, bytes: usize) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &u32::try_from(bytes).unwrap().to_be_bytes())
}

/// Sets the initial window of each stream.
async fn begin_with_window(client: &mut RawHttp2Client, bytes: u32) {
    client.send(SETTINGS, 0, 0, &[&[0, 4][..], &bytes.to_be_bytes()].concat()).await;
}

/// Opens all windows, so that only the socket limits what is sent.
async fn begin_without_windows(client: &mut RawHttp2Client) {
    begin_with_window(client, 0x7fff_ffff).await;
    client.write(&window_update(0, 0x7fff_0000 - 0x1_0000)).await;
}

#[tokio::test]
async fn old_connection_can_fill_its_socket() {
    at_any_pace(|time| async move {
        let (_authority, server, mut client) =
            start_raw_http2(with(long_timeouts(), |c| c.timeouts.stall = 2 * time)).await;
        begin_without_windows(&mut client).await;
        let (since, mut stream) = (Instant::now(), 1);
        while since.elapsed() < 3 * time {
            client.get(stream, "/").await;
            client.skip_to(DATA).await.unwrap();
            stream += 2;
        }
        client.get(stream, "/big").await;
        server.wait_for_request().await;
        let mut bytes = 0;
        while bytes < BIG_RESPONSE_BYTES {
            if let (DATA, _, payload) = client.next().await.expect("the connection stays open") {
                bytes += payload.len();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn blocked_socket_ends_after_request_timeout() {
    let (_authority, server, mut client) =
        start_raw_http2(with(long_timeouts(), |c| c.timeouts.request = SHORT_TIMEOUT)).await;
    begin_without_windows(&mut client).await;
    client.get(1, "/big").await;
    until(|| server.metrics.open() == 0).await;
}

#[tokio::test]
async fn requests_with_few_extra_frames_are_accepted() {
    let (_authority, _server, mut client) = start_raw_http2(ServerConfig::default()).await;
    for stream in (1..4_000).step_by(2) {
        let mut frames = frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 16]);
        frames.extend(frame(PRIORITY_UPDATE, 0, 0, &[&stream.to_be_bytes()[..], b"u=1"].concat()));
        frames.extend(frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/")));
        frames.extend(window_update(0, 100));
        client.write(&frames).await;
        assert_eq!(client.skip_to(HEADERS).await.expect("the connection stays open").0, stream);
    }
}

#[tokio::test]
async fn only_streams_beyond_limit_are_refused() {
    let (_authority, _server, mut client) = start_raw_http2(ServerConfig::default()).await;
    let mut waiting: HashSet<u32> = (1..500).step_by(2).collect();
    let all: Vec<_> =
        (1..500).step_by(2).map(|stream| frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/"))).collect();
    client.write(&all.concat()).await;
    let mut responses = 0;
    while !waiting.is_empty() {
        match client.next().await.expect("the connection stays open") {
            (HEADERS, stream, _) => {
                assert!(waiting.remove(&stream));
                responses += 1;
            }
            (RST_STREAM, stream, error) => {
                assert!(waiting.remove(&stream));
                assert_eq!(error, REFUSED_STREAM);
            }
            _ => {}
        }
    }
    assert!(responses >= 32, "{responses}");
    client.get(501, "/").await;
    assert_eq!(client.skip_to(HEADERS).await.unwrap().0, 501);
}

#[tokio::test]
async fn provoked_resets_end_connection() {
    let (authority, server, mut client) = start_raw_http2(long_timeouts()).await;
    let mut provoked = 0;
    for stream in (1..4_000).step_by(2) {
        let head = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/never"));
        // The window overflows, which is an error of the stream only.
        client.write(&[head, window_update(stream, 0x7fff_ffff)].concat()).await;
        if client.skip_to(RST_STREAM).await.is_none() {
            break;
        }
        provoked += 1;
    }
    assert!((100..1_100).contains(&provoked), "{provoked}");
    assert!(server.reached() < 1_100);
    assert_others_served(&authority, &server).await;
}

#[tokio::test]
async fn responses_without_window_are_evicted_at_stream_limit() {
    let config = with(long_timeouts(), |c| {
        c.limits.outstanding_streams = 10;
        c.timeouts.reclaim = SHORT_TIMEOUT;
    });
    let (authority, server, mut client) = start_raw_http2(config).await;
    begin_with_window(&mut client, 0).await;
    for stream in (1..20).step_by(2) {
        client.get(stream, "/").await;
        client.skip_to(HEADERS).await.unwrap();
    }
    assert_served_again(&authority, &server).await;
    client.end().await;
}

/// Waits until all streams are taken, so that another client is refused.
async fn wait_until_full(authority: &Authority, server: &Server) {
    let mut client = Http2Client::connect(authority, server).await;
    with_timeout(async { while client.get("/never-there").await.is_ok() {} }).await;
}

/// Returns a client that has sent `requests` heads to `path`, but no bodies.
async fn start_with_missing_bodies(
    config: ServerConfig,
    path: &str,
    requests: u32,
) -> (Authority, Server, RawHttp2Client) {
    let (authority, server, mut client) = start_raw_http2(with(config, |c| {
        c.timeouts.reclaim = SHORT_TIMEOUT;
        c.timeouts.request = LONG_TIMEOUT;
    }))
    .await;
    for number in 0..requests {
        client.send(HEADERS, END_HEADERS, 2 * number + 1, &head_of(path)).await;
    }
    (authority, server, client)
}

#[tokio::test]
async fn missing_and_slow_bodies_are_evicted_at_stream_limit() {
    for trickles in [false, true] {
        let config = with(long_timeouts(), |c| c.limits.outstanding_streams = 10);
        let (authority, server, mut client) = start_with_missing_bodies(config, "/echo", 10).await;
        wait_until_full(&authority, &server).await;
        let trickle = async {
            let mut ticks = tokio::time::interval(SHORT_TIMEOUT / 10);
            let parts: Vec<_> = (1..20).step_by(2).map(|stream| frame(DATA, 0, stream, b"x")).collect();
            while trickles && client.write(&parts.concat()).await {
                ticks.tick().await;
            }
            client.end().await;
        };
        tokio::join!(with_timeout(trickle), assert_served_again(&authority, &server));
    }
}

#[tokio::test]
async fn request_keeps_connection_when_body_has_arrived() {
    let config = with(long_timeouts(), |c| c.limits.connections = 1);
    let (authority, server, mut client) = start_with_missing_bodies(config, "/gate?body", 1).await;
    client.send(DATA, END_STREAM, 1, b"hello").await;
    server.wait_for_request().await;
    tokio::time::timeout(3 * SHORT_TIMEOUT, assert_others_served(&authority, &server))
        .await
        .expect_err("the server is full");
    server.open_gate();
    assert_eq!(client.skip_to(DATA).await.unwrap(), (1, b"passed".to_vec()));
}

#[tokio::test]
async fn only_longest_waiting_responses_are_evicted() {
    let config = with(long_timeouts(), |c| {
        c.limits.outstanding_streams = 6;
        c.timeouts.reclaim = SHORT_TIMEOUT;
    });
    let (authority, server, mut first) = start_raw_http2(config).await;
    let mut clients =
        [RawHttp2Client::connect(&authority, &server).await, RawHttp2Client::connect(&authority, &server).await];
    for (client, requests) in [(&mut first, 4)].into_iter().chain(clients.iter_mut().zip([1, 1])) {
        begin_with_window(client, 0).await;
        for number in 0..requests {
            client.get(2 * number + 1, "/").await;
            client.skip_to(HEADERS).await.unwrap();
        }
    }
    assert_served_again(&authority, &server).await;
    first.end().await;
    for client in &mut clients {
        client.write(&window_update(1, 1_000)).await;
        assert_eq!(client.skip_to(DATA).await.unwrap().0, 1);
    }
}

#[tokio::test]
async fn requests_beyond_outstanding_limit_are_refused() {
    let (authority, server, mut client) =
        start_raw_http2(with(long_timeouts(), |c| c.limits.outstanding_streams = 4)).await;
    for stream in [1, 3, 5, 7] {
        client.get(stream, "/gate").await;
        server.wait_for_request().await;
    }
    client.get(9, "/").await;
    // The client may retry immediately: the request has not reached the service.
    assert_eq!(client.skip_to(RST_STREAM).await.unwrap(), (9, REFUSED_STREAM.to_vec()));
    assert_eq!(server.metrics.refused(), 1);
    for _ in 0..4 {
        server.open_gate();
    }
    assert_others_served(&authority, &server).await;
    assert_eq!(server.reached(), 5);
}
