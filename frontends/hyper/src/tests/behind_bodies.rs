//! What comes in one packet with the end of a body, and how long it may take.

use std::time::{Duration, Instant};

use super::pace::at_any_pace;
use super::support::{Server, status, with};
use super::timeouts::{assert_ends, patient};

/// However the bytes come together, the beginning of a head behind a body is timed as a head.
async fn assert_timed_as_head(head: &'static str, body: &'static str) {
    at_any_pace(|time| timed_as_head(head, body, time)).await;
}

async fn timed_as_head(head: &str, body: &str, time: Duration) {
    let whole = format!("{head}{body}GET / HTTP/1.1\r\nHo");
    for cut in [0, head.len(), head.len() + body.len() - 1, whole.len() - 2] {
        let server = Server::start(with(patient(), |c| c.timeouts.head = time)).await;
        let mut client = server.connect().await;
        let since = Instant::now();
        client.send(&whole[..cut]).await;
        if cut >= head.len() {
            assert_eq!(status(&client.answer().await), "200");
        }
        client.send(&whole[cut..]).await;
        if cut < head.len() {
            assert_eq!(status(&client.answer().await), "200");
        }
        assert_ends(&mut client, since, time).await;
    }
}

#[tokio::test]
async fn an_unfinished_head_right_behind_a_body_ends_the_connection() {
    assert_timed_as_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", "hello").await;
}

#[tokio::test]
async fn an_unfinished_head_right_behind_chunks_ends_the_connection() {
    assert_timed_as_head("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n0\r\n\r\n")
        .await;
}

/// The end of the body is no head: the times are those of an idle connection.
#[tokio::test]
async fn a_body_right_behind_its_head_leaves_an_idle_connection() {
    for request in [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ] {
        at_any_pace(|time| async move {
            let server = Server::start(with(patient(), |c| c.timeouts.idle = time)).await;
            let mut client = server.connect().await;
            let since = Instant::now();
            client.send(request).await;
            client.answer().await;
            assert_ends(&mut client, since, time).await;
        })
        .await;
    }
}
