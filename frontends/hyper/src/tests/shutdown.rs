//! Shutdown without losing requests that have arrived.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use super::super::ServerConfig;
use super::support::{Client, GET, SHORT_TIMEOUT, Server, announces_close, status, until, with};
use super::timeouts::LONG_TIMEOUT;

const GATE: &[u8] = b"GET /gate HTTP/1.1\r\nHost: a\r\n\r\n";

/// Returns a configuration with these times for a shutdown.
fn stopping_within(grace: Duration, last_request: Duration) -> ServerConfig {
    with(ServerConfig::default(), |c| (c.timeouts.grace, c.timeouts.last_request) = (grace, last_request))
}

/// Starts a server that waits longer for a last request than a test lasts.
async fn start_with_long_timeouts() -> Server {
    Server::start(stopping_within(LONG_TIMEOUT, LONG_TIMEOUT)).await
}

/// A client may have sent a request before it could know of the shutdown.
#[tokio::test]
async fn idle_client_can_send_last_request() {
    let mut server = start_with_long_timeouts().await;
    let mut fresh = server.connect().await;
    let mut used = server.connect().await;
    let mut busy = server.connect().await;
    used.assert_served().await;
    busy.send(GATE).await;
    server.wait_for_request().await;
    server.wait_for_request().await;
    server.stop_accepting().await;
    server.open_gate();
    // All connections have been polled by now.
    assert!(busy.read_to_end().await.ends_with("passed"));
    for client in [&mut fresh, &mut used] {
        client.send(GET).await;
        let response = client.read_to_end().await;
        assert_eq!(status(&response), "200");
        assert!(announces_close(&response), "{response}");
    }
    drop((fresh, used, busy));
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn idle_client_is_closed_after_last_request_timeout() {
    let mut server = Server::start(stopping_within(LONG_TIMEOUT, SHORT_TIMEOUT)).await;
    let mut fresh = server.connect().await;
    let mut used = server.connect().await;
    used.assert_served().await;
    server.stop();
    assert_eq!(fresh.read_to_end().await, "");
    assert_eq!(used.read_to_end().await, "");
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn connections_end_after_grace() {
    for request in ["", "GET /never HTTP/1.1\r\nHost: a\r\n\r\n", "GET /big HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP"]
    {
        let (mut server, mut client) = Server::start_with_client(stopping_within(SHORT_TIMEOUT, LONG_TIMEOUT)).await;
        client.assert_served().await;
        server.wait_for_request().await;
        client.send(request).await;
        if request.ends_with("\r\n\r\n") {
            server.wait_for_request().await;
        }
        server.stop();
        if request.contains("/big") {
            // The client reads only after the end.
            server.wait_until_stopped().await;
            continue;
        }
        assert_eq!(client.end().await, b"", "{request}");
        server.wait_until_stopped().await;
    }
}

/// Requests that arrive together all get a response; the response to the next request announces the close.
#[tokio::test]
async fn pipelined_last_requests_get_responses() {
    let mut server = start_with_long_timeouts().await;
    let mut client = server.connect().await;
    for _ in 0..2 {
        client.send(GET.repeat(3)).await;
        for _ in 0..3 {
            client.response().await;
        }
    }
    server.stop_accepting().await;
    client.send(GET.repeat(3)).await;
    for _ in 0..3 {
        let response = client.response().await;
        assert_eq!((status(&response), announces_close(&response)), ("200", false), "{response}");
    }
    client.send(GET).await;
    let response = client.read_to_end().await;
    assert!(status(&response) == "200" && announces_close(&response), "{response}");
    drop(client);
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn connections_end_when_server_is_dropped() {
    for is_stopping in [false, true] {
        let (mut server, mut client) = Server::start_with_client(stopping_within(LONG_TIMEOUT, LONG_TIMEOUT)).await;
        client.assert_served().await;
        server.wait_for_request().await;
        if is_stopping {
            client.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n").await;
            server.wait_for_request().await;
            server.stop_accepting().await;
        }
        server.abort();
        assert_eq!(client.read_to_end().await, "");
    }
}

/// A head in an unusual form gets a response that does not announce that it is the last.
#[tokio::test]
async fn response_without_close_restarts_last_request_timeout() {
    let (mut server, mut client) = Server::start_with_client(stopping_within(LONG_TIMEOUT, 2 * SHORT_TIMEOUT)).await;
    client.assert_served().await;
    server.wait_for_request().await;
    server.stop_accepting().await;
    let since = Instant::now();
    client.send("GET http://a/gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.wait_for_request().await;
    until(|| since.elapsed() >= 3 * SHORT_TIMEOUT).await;
    server.open_gate();
    assert!(!announces_close(&client.response().await));
    client.send(GET).await;
    assert_eq!(status(&client.read_to_end().await), "200");
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn running_request_finishes_with_connection_close() {
    let default = ServerConfig::default().timeouts;
    for grace in [default.grace, Duration::MAX] {
        let (mut server, mut client) = Server::start_with_client(stopping_within(grace, default.last_request)).await;
        let mut idle = server.connect().await;
        client.send(GATE).await;
        server.wait_for_request().await;
        server.stop();
        idle.read_to_end().await;
        server.open_gate();
        let response = client.read_to_end().await;
        assert!(announces_close(&response) && response.ends_with("passed"), "{response}");
        drop(client);
        server.wait_until_stopped().await;
    }
}

#[tokio::test]
async fn request_received_before_shutdown_gets_response() {
    for _ in 0..50 {
        let mut server = Server::start_default().await;
        let mut fresh = server.connect().await;
        let mut used = server.connect().await;
        used.assert_served().await;
        // The runtime of this test has one thread, so the server has not read these requests when the shutdown begins.
        fresh.0.try_write(GET).unwrap();
        used.0.try_write(GET).unwrap();
        server.stop();
        assert_eq!(status(&fresh.read_to_end().await), "200");
        assert_eq!(status(&used.read_to_end().await), "200");
        drop((fresh, used));
        server.wait_until_stopped().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arrived_requests_get_responses_on_many_connections() {
    let mut server = Server::start_default().await;
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut client = server.connect().await;
        client.assert_served().await;
        clients.push(client);
    }
    for client in &clients {
        client.0.try_write(GET).unwrap();
    }
    server.stop();
    for mut client in clients {
        assert_eq!(status(&client.read_to_end().await), "200");
    }
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn clients_in_listen_queue_get_responses() {
    for _ in 0..20 {
        let mut server = Server::start_default().await;
        let mut queued = Vec::new();
        for _ in 0..5 {
            let stream = std::net::TcpStream::connect(server.address).unwrap();
            std::io::Write::write_all(&mut &stream, GET).unwrap();
            queued.push(stream);
        }
        server.stop();
        for stream in queued {
            stream.set_nonblocking(true).unwrap();
            let mut client = Client(TcpStream::from_std(stream).unwrap());
            assert_eq!(status(&client.read_to_end().await), "200");
        }
        server.wait_until_stopped().await;
    }
}

#[tokio::test]
async fn requests_after_running_one_get_responses() {
    // Numbers of requests that arrive with the running one, while it runs, and after the shutdown. The first is more than
    // hyper serves in one poll.
    let last_request = ServerConfig::default().timeouts.last_request;
    for (with_it, during, after, last_request) in
        [(40, 0, 0, last_request), (0, 1, 0, last_request), (0, 0, 1, LONG_TIMEOUT)]
    {
        let config = stopping_within(LONG_TIMEOUT, last_request);
        let (mut server, mut client) = Server::start_with_client(config).await;
        client.send([GATE, &GET.repeat(with_it)].concat()).await;
        server.wait_for_request().await;
        client.send(GET.repeat(during)).await;
        server.stop_accepting().await;
        // The runtime of this test has one thread, so the server has not seen the last request when the first response is
        // ready.
        server.open_gate();
        client.0.try_write(&GET.repeat(after)).unwrap();
        let responses = client.read_to_end().await;
        assert_eq!(responses.matches("HTTP/1.1 200 OK").count(), 1 + with_it + during + after, "{responses}");
        drop(client);
        server.wait_until_stopped().await;
    }
}

#[tokio::test]
async fn partial_head_can_be_finished_during_shutdown() {
    let (mut server, mut client) = Server::start_default_with_client().await;
    let mut idle = server.connect().await;
    client.send(&GET[..10]).await;
    server.stop();
    idle.read_to_end().await;
    client.send(&GET[10..]).await;
    let response = client.read_to_end().await;
    assert_eq!(status(&response), "200");
    assert!(announces_close(&response), "{response}");
    drop(client);
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn response_does_not_wait_for_body() {
    let mut server = start_with_long_timeouts().await;
    let mut client = server.connect().await;
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel").await;
    server.wait_for_request().await;
    // The rest of the body does not reset the connection before the client has read the response.
    server.stop_accepting().await;
    client.send("lo").await;
    let response = client.read_to_end().await;
    assert!(response.ends_with("POST /"), "{response}");
    drop(client);
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn clients_beyond_limit_get_responses_at_shutdown() {
    let mut server = Server::start(with(ServerConfig::default(), |c| c.limits.connections = 1)).await;
    let mut busy = server.connect().await;
    busy.send(GATE).await;
    server.wait_for_request().await;
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let mut client = server.connect().await;
        client.send(GET).await;
        waiting.push(client);
    }
    server.stop_accepting().await;
    server.open_gate();
    assert!(busy.response().await.ends_with("passed"));
    for mut client in waiting {
        assert_eq!(status(&client.response().await), "200");
    }
    server.wait_until_stopped().await;
}
