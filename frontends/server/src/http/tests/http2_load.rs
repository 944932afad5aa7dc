//! HTTP/2 from clients that want the server to work, or to keep something, for nothing.

use std::collections::HashSet;

use super::{
    Limits,
    http2::{
        CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST_STREAM, Raw, SETTINGS, assert_unharmed, frame,
        head_of, raw,
    },
    support::{BIG, SHORT},
    timeouts::patient,
};

// Types of frames.
const PRIORITY: u8 = 2;
const WINDOW_UPDATE: u8 = 8;
const PRIORITY_UPDATE: u8 = 16;
const UNKNOWN: u8 = 0x77;
// Errors.
const ENHANCE_YOUR_CALM: u32 = 11;
const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];

/// The window of the connection, or of a stream.
fn opened(stream: u32, bytes: usize) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &u32::try_from(bytes).unwrap().to_be_bytes())
}

/// The window that each stream begins with.
async fn begin_with_window(client: &mut Raw, bytes: u32) {
    client.send(SETTINGS, 0, 0, &[&[0, 4][..], &bytes.to_be_bytes()].concat()).await;
}

#[tokio::test]
async fn frames_of_no_request_end_the_connection() {
    for frame in [
        opened(0, 1),
        frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 16]),
        frame(PRIORITY_UPDATE, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1']),
        frame(UNKNOWN, 0, 0, &[b'x'; 100]),
        frame(PING, 0, 0, b"12345678"),
        frame(SETTINGS, 0, 0, b""),
    ] {
        let (authority, server, mut client) = raw(patient()).await;
        client.flood(&frame).await;
        assert_unharmed(&authority, &server).await;
    }
}

#[tokio::test]
async fn frames_of_a_request_end_the_connection_too() {
    for frame in [frame(DATA, 0, 1, b""), frame(DATA, 0, 1, b"x"), opened(1, 1)] {
        let (authority, server, mut client) = raw(patient()).await;
        begin_with_window(&mut client, 0).await;
        client.send(HEADERS, END_HEADERS, 1, &head_of("/never")).await;
        server.arrival().await;
        client.flood(&frame).await;
        assert_unharmed(&authority, &server).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_fetched_byte_by_byte_ends_the_connection() {
    let (_authority, _server, mut client) = raw(patient()).await;
    begin_with_window(&mut client, 0).await;
    client.get(1, "/big").await;
    client.until(HEADERS).await.unwrap();
    let mut bytes = 0;
    while client.write(&opened(1, 1)).await
        && let Some((kind, _, payload)) = client.next().await
    {
        bytes += if kind == DATA { payload.len() } else { 0 };
    }
    assert!(bytes < 10_000, "{bytes}");
}

#[tokio::test]
async fn whoever_sends_too_many_frames_is_told_so() {
    let (_authority, _server, mut client) = raw(patient()).await;
    client.write(&frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 16]).repeat(2_000)).await;
    assert_eq!(client.end().await, Some(ENHANCE_YOUR_CALM));
}

#[tokio::test]
async fn windows_that_are_opened_for_what_has_come_are_no_load() {
    let (_authority, _server, mut client) = raw(Limits::default()).await;
    client.get(1, "/big").await;
    let mut bytes = 0;
    while bytes < BIG {
        if let (DATA, 1, payload) = client.next().await.expect("the connection goes on") {
            bytes += payload.len();
            client.write(&[opened(0, payload.len()), opened(1, payload.len())].concat()).await;
        }
    }
    client.get(3, "/").await;
    assert_eq!(client.until(HEADERS).await.unwrap().0, 3);
}

#[tokio::test]
async fn requests_with_a_few_frames_each_are_no_load() {
    let (_authority, _server, mut client) = raw(Limits::default()).await;
    for stream in (1..4_000).step_by(2) {
        let mut frames = frame(PRIORITY, 0, stream, &[0, 0, 0, 0, 16]);
        frames.extend(frame(PRIORITY_UPDATE, 0, 0, &[&stream.to_be_bytes()[..], b"u=1"].concat()));
        frames.extend(frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/")));
        frames.extend(opened(0, 100));
        client.write(&frames).await;
        assert_eq!(client.until(HEADERS).await.expect("the connection goes on").0, stream);
    }
}

#[tokio::test]
async fn more_streams_than_there_may_be_are_refused_and_nothing_else() {
    let (_authority, _server, mut client) = raw(Limits::default()).await;
    let mut waiting: HashSet<u32> = (1..500).step_by(2).collect();
    let all: Vec<_> =
        (1..500).step_by(2).map(|stream| frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/"))).collect();
    client.write(&all.concat()).await;
    let mut answered = 0;
    while !waiting.is_empty() {
        match client.next().await.expect("the connection goes on") {
            (HEADERS, stream, _) => {
                assert!(waiting.remove(&stream));
                answered += 1;
            }
            (RST_STREAM, stream, error) => {
                assert!(waiting.remove(&stream));
                assert_eq!(error, REFUSED_STREAM);
            }
            _ => {}
        }
    }
    assert!(answered >= 100, "{answered}");
    client.get(501, "/").await;
    assert_eq!(client.until(HEADERS).await.unwrap().0, 501);
}

#[tokio::test]
async fn resets_that_are_provoked_end_the_connection() {
    let (authority, server, mut client) = raw(patient()).await;
    let mut provoked = 0;
    for stream in (1..2_000).step_by(2) {
        let head = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head_of("/never"));
        // The window overflows, which is an error of the stream alone.
        client.write(&[head, opened(stream, 0x7fff_ffff)].concat()).await;
        if client.until(RST_STREAM).await.is_none() {
            break;
        }
        provoked += 1;
    }
    assert!((100..500).contains(&provoked), "{provoked}");
    assert!(server.reached() < 500);
    assert_unharmed(&authority, &server).await;
}

#[tokio::test]
async fn answers_that_wait_for_a_window_give_way_where_there_are_many() {
    let limits = Limits { unanswered: 16, yield_time: SHORT, ..patient() };
    let (authority, server, mut client) = raw(limits).await;
    begin_with_window(&mut client, 0).await;
    for stream in (1..20).step_by(2) {
        client.get(stream, "/").await;
    }
    assert_eq!(client.end().await, Some(ENHANCE_YOUR_CALM));
    assert_eq!(server.reached(), 10);
    assert_unharmed(&authority, &server).await;
}

#[tokio::test]
async fn the_answers_that_have_waited_longest_give_way_and_no_more_than_that() {
    let limits = Limits { unanswered: 8, yield_time: SHORT, ..patient() };
    let (authority, server, mut first) = raw(limits).await;
    let mut clients = [Raw::connect(&authority, &server).await, Raw::connect(&authority, &server).await];
    // Four and one are beyond the half by one; the last one would do as well.
    for (client, requests) in [(&mut first, 4)].into_iter().chain(clients.iter_mut().zip([1, 1])) {
        begin_with_window(client, 0).await;
        for number in 0..requests {
            client.get(2 * number + 1, "/").await;
            client.until(HEADERS).await.unwrap();
        }
    }
    first.end().await;
    for client in &mut clients {
        client.write(&opened(1, 1_000)).await;
        assert_eq!(client.until(DATA).await.unwrap().0, 1);
    }
}

#[tokio::test]
async fn whoever_holds_more_than_its_share_gives_way_before_those_that_have_waited_longer() {
    // Only those beyond their share are not given the time.
    let limits = Limits { unanswered: 48, yield_time: patient().stall_time, ..patient() };
    let (authority, server, mut modest) = raw(limits).await;
    let mut greedy = Raw::connect(&authority, &server).await;
    for (client, requests) in [(&mut modest, 8), (&mut greedy, 40)] {
        begin_with_window(client, 0).await;
        for number in 0..requests {
            client.get(2 * number + 1, "/").await;
            client.until(HEADERS).await.unwrap();
        }
    }
    assert_eq!(greedy.end().await, Some(ENHANCE_YOUR_CALM));
    modest.write(&opened(1, 1_000)).await;
    assert_eq!(modest.until(DATA).await.unwrap().0, 1);
}

#[tokio::test]
async fn heads_that_are_not_finished_give_way_where_there_are_many() {
    let limits = Limits { unanswered: 128, yield_time: SHORT, ..patient() };
    let (authority, server, mut first) = raw(limits).await;
    let mut second = Raw::connect(&authority, &server).await;
    for client in [&mut first, &mut second] {
        client.get(1, "/").await;
        client.until(HEADERS).await.unwrap();
        client.send(HEADERS, END_STREAM, 3, &head_of("/")).await;
    }
    // Both are two too many, so that one is enough.
    assert_eq!(first.end().await, Some(ENHANCE_YOUR_CALM));
    second.send(CONTINUATION, END_HEADERS, 3, b"").await;
    assert_eq!(second.until(HEADERS).await.unwrap().0, 3);
    assert_eq!(server.reached(), 3);
}

#[tokio::test]
async fn a_connection_within_its_share_is_served_where_another_holds_all() {
    let (authority, server, mut greedy) = raw(Limits { unanswered: 32, ..patient() }).await;
    for number in 0..32 {
        greedy.get(2 * number + 1, "/gate").await;
        server.arrival().await;
    }
    for stream in [65, 67] {
        assert_unharmed(&authority, &server).await;
        server.arrival().await;
        greedy.get(stream, "/").await;
        assert_eq!(greedy.until(RST_STREAM).await.unwrap(), (stream, REFUSED_STREAM.to_vec()));
    }
    assert_eq!(server.reached(), 34);
}

#[tokio::test]
async fn requests_beyond_all_that_may_wait_are_refused() {
    let (authority, server, mut client) = raw(Limits { unanswered: 4, ..patient() }).await;
    for stream in [1, 3, 5, 7] {
        client.get(stream, "/gate").await;
        server.arrival().await;
    }
    client.get(9, "/").await;
    // The client may ask again at once: nothing was done.
    assert_eq!(client.until(RST_STREAM).await.unwrap(), (9, REFUSED_STREAM.to_vec()));
    assert_eq!(server.counts.refused(), 1);
    for _ in 0..4 {
        server.open_gate();
    }
    assert_unharmed(&authority, &server).await;
    assert_eq!(server.reached(), 5);
}
