//! HTTPS: negotiation, resumption, refusal of plain HTTP, timeouts, and the end of connections.

use std::io::ErrorKind;
use std::sync::Arc;

use rcgen::PKCS_RSA_SHA256;
use rustls::ProtocolVersion;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::ServerConfig;
use super::certificates::Authority;
use super::support::{Client, GET, SHORT_TIMEOUT, Server, status, with, with_timeout};
use super::timeouts::{LONG_TIMEOUT, long_timeouts};

const HTTP_1: &[u8] = b"http/1.1";

pub(super) async fn start(authority: &Authority, config: ServerConfig) -> Server {
    Server::start_direct(ServerConfig { tls: Some(authority.tls()), ..config }).await
}

/// Starts a server. Returns its authority, the server, and a client of HTTP/1.
async fn start_with_client(config: ServerConfig) -> (Authority, Server, Client<TlsStream<TcpStream>>) {
    let authority = Authority::new();
    let server = start(&authority, config).await;
    let client = Client(authority.connect(server.address, HTTP_1).await);
    (authority, server, client)
}

/// Connects with a client's own settings.
async fn connect(connector: &TlsConnector, server: &Server) -> Client<TlsStream<TcpStream>> {
    let tcp = TcpStream::connect(server.address).await.unwrap();
    Client(connector.connect("localhost".try_into().unwrap(), tcp).await.unwrap())
}

#[tokio::test]
async fn tls_versions_and_key_types_are_supported() {
    for authority in [Authority::new(), Authority::of(&PKCS_RSA_SHA256)] {
        let server = start(&authority, ServerConfig::default()).await;
        for (version, named) in [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)] {
            let mut client = connect(&authority.client(HTTP_1, &[version]), &server).await;
            assert_eq!(client.0.get_ref().1.protocol_version(), Some(named));
            client.send(GET).await;
            let response = client.response().await;
            assert!(response.contains("\r\nstrict-transport-security: max-age=31536000\r\n"), "{response}");
        }
    }
}

#[tokio::test]
async fn cleartext_response_has_no_hsts() {
    let (_server, mut client) = Server::start_default_with_client().await;
    client.send(GET).await;
    assert!(!client.response().await.contains("strict-transport"));
}

#[tokio::test]
async fn client_without_alpn_gets_http_1() {
    let authority = Authority::new();
    let server = start(&authority, ServerConfig::default()).await;
    let mut config = (**authority.client(HTTP_1, rustls::DEFAULT_VERSIONS).config()).clone();
    config.alpn_protocols.clear();
    connect(&Arc::new(config).into(), &server).await.assert_served().await;
}

#[tokio::test]
async fn session_is_resumed_from_ticket() {
    let authority = Authority::new();
    let server = start(&authority, ServerConfig::default()).await;
    for version in [&TLS12, &TLS13] {
        let connector = authority.client(HTTP_1, &[version]);
        let mut resumed = Vec::new();
        for _ in 0..2 {
            let mut client = connect(&connector, &server).await;
            client.assert_served().await;
            resumed.push(client.0.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed));
        }
        assert_eq!(resumed, [false, true], "{version:?}");
    }
}

#[tokio::test]
async fn cleartext_request_over_tls_port_returns_400() {
    let authority = Authority::new();
    let server = start(&authority, ServerConfig::default()).await;
    for request in [GET, b"POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\n123456789", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
    {
        let mut client = server.connect().await;
        client.send(request).await;
        let response = client.read_to_end().await;
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert_eq!(head.lines().next(), Some("HTTP/1.1 400 Bad Request"), "{response}");
        for field in ["connection: close", "content-type: text/plain", &format!("content-length: {}", body.len())] {
            assert!(head.lines().any(|line| line == field), "{field}: {response}");
        }
        assert!(body.contains("https://"), "{response}");
    }
    // Bytes that are neither HTTP nor TLS get no HTTP response.
    let mut client = server.connect().await;
    client.send("\r\n\r\n").await;
    assert!(!client.end().await.starts_with(b"HTTP"));
    assert_eq!(server.reached(), 0);
}

#[tokio::test]
async fn stalled_handshake_ends_connection() {
    let authority = Authority::new();
    let server = start(&authority, with(long_timeouts(), |c| c.timeouts.head = SHORT_TIMEOUT)).await;
    let mut silent = server.connect().await;
    let mut slow = server.connect().await;
    slow.send(b"\x16\x03\x01\x02").await;
    assert_eq!(silent.end().await, b"");
    assert_eq!(slow.end().await, b"");
}

#[tokio::test]
async fn idle_connection_ends_with_close_notify() {
    let (_authority, _server, mut client) =
        start_with_client(with(long_timeouts(), |c| c.timeouts.idle = SHORT_TIMEOUT)).await;
    assert_eq!(client.read_to_end().await, "");
}

#[tokio::test]
async fn empty_records_do_not_keep_connection_alive() {
    let (_authority, _server, Client(mut client)) =
        start_with_client(with(long_timeouts(), |c| c.timeouts.idle = 4 * SHORT_TIMEOUT)).await;
    let refresh = async {
        let mut ticks = tokio::time::interval(SHORT_TIMEOUT);
        loop {
            ticks.tick().await;
            // The server responds with its own key update.
            let (_, session) = client.get_mut();
            if session.refresh_traffic_keys().is_err() || client.flush().await.is_err() {
                return;
            }
            let mut byte = [0];
            tokio::select! {
                biased;
                read = client.read(&mut byte) => match read {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                },
                () = std::future::ready(()) => {}
            }
        }
    };
    with_timeout(refresh).await;
}

/// The module `over_tls` tests a client that sends `close_notify`.
#[tokio::test]
async fn half_closed_client_without_close_notify_gets_response() {
    let (_authority, server, mut client) = start_with_client(ServerConfig::default()).await;
    client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.0.get_mut().0.shutdown().await.unwrap();
    server.wait_for_request().await;
    server.open_gate();
    assert!(client.read_to_end().await.ends_with("passed"));
}

#[tokio::test]
async fn idle_and_silent_connections_close_at_shutdown() {
    let config = with(ServerConfig::default(), |c| c.timeouts.grace = LONG_TIMEOUT);
    let (authority, mut server, mut fresh) = start_with_client(config).await;
    let mut silent = server.connect().await;
    let mut used = Client(authority.connect(server.address, HTTP_1).await);
    used.assert_served().await;
    server.stop();
    assert_eq!(silent.read_to_end().await, "");
    assert_eq!(used.read_to_end().await, "");
    assert_eq!(fresh.read_to_end().await, "");
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn handshake_begun_before_shutdown_gets_response() {
    let authority = Authority::new();
    let mut server = start(&authority, ServerConfig::default()).await;
    let mut idle = server.connect().await;
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let connector = authority.client(HTTP_1, rustls::DEFAULT_VERSIONS);
    let mut connect = Box::pin(connector.connect("localhost".try_into().unwrap(), tcp));
    // Sends the `ClientHello`, which arrives before the shutdown begins.
    std::future::poll_fn(|cx| {
        assert!(connect.as_mut().poll(cx).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    let mut witness = Client(authority.connect(server.address, HTTP_1).await);
    server.stop();
    assert_eq!(idle.read_to_end().await, "");
    let mut client = Client(with_timeout(connect).await.unwrap());
    client.send(GET).await;
    assert_eq!(status(&client.read_to_end().await), "200");
    assert_eq!(witness.read_to_end().await, "");
    drop(client);
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn request_received_before_shutdown_gets_response() {
    for _ in 0..20 {
        let (_authority, mut server, mut client) = start_with_client(ServerConfig::default()).await;
        client.assert_served().await;
        // The runtime of this test has one thread, so the server has not read this request when the shutdown begins.
        let (tcp, session) = client.0.get_mut();
        std::io::Write::write_all(&mut session.writer(), GET).unwrap();
        let mut records = Vec::new();
        session.write_tls(&mut records).unwrap();
        tcp.try_write(&records).unwrap();
        server.stop();
        assert_eq!(status(&client.read_to_end().await), "200");
        drop(client);
        server.wait_until_stopped().await;
    }
}

#[tokio::test]
async fn request_arriving_after_stop_gets_response() {
    let config = with(ServerConfig::default(), |c| c.timeouts.grace = LONG_TIMEOUT);
    let (_authority, mut server, mut client) = start_with_client(config).await;
    client.send("GET /gate HTTP/1.1\r\nHost: a\r\n\r\n").await;
    server.wait_for_request().await;
    server.stop_accepting().await;
    // The runtime of this test has one thread, so the server has not seen the second request when the first response is ready.
    server.open_gate();
    client.send(GET).await;
    let responses = client.read_to_end().await;
    assert_eq!(responses.matches("HTTP/1.1 200 OK").count(), 2, "{responses}");
    drop(client);
    server.wait_until_stopped().await;
}

#[tokio::test]
async fn altered_record_ends_connection() {
    let (_authority, server, Client(mut client)) = start_with_client(ServerConfig::default()).await;
    client.get_mut().0.write_all(b"\x17\x03\x03\x00\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").await.unwrap();
    let mut bytes = Vec::new();
    let error = with_timeout(client.read_to_end(&mut bytes)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof), "{error:?}");
    assert_eq!(server.reached(), 0);
}
