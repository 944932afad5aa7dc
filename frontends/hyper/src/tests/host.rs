//! The `Host` header (RFC 9112, 3.2).

use super::support::{Server, assert_bare, status};

/// Asserts that each head (without its end) is refused, and that nothing after it is served.
macro_rules! refused {
    ($($name:ident: $head:expr;)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                let server = Server::start_default().await;
                let request = format!("{}\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", $head);
                assert_bare(&server.exchange(request).await, "400");
                assert_eq!(server.reached(), 0);
            }
        )*
    };
}

refused! {
    missing_host_returns_400: "GET / HTTP/1.1";
    missing_host_with_absolute_target_returns_400: "GET http://a/ HTTP/1.1";
    connect_without_host_returns_400: "CONNECT a:443 HTTP/1.1";
    head_without_host_returns_400: "HEAD / HTTP/1.1";
    second_host_returns_400: "GET / HTTP/1.1\r\nHost: a\r\nHost: b";
    repeated_host_returns_400: "GET / HTTP/1.1\r\nHost: a\r\nHost: a";
    two_hosts_in_http_1_0_return_400: "GET / HTTP/1.0\r\nHost: a\r\nHost: b";
    empty_host_returns_400: "GET / HTTP/1.1\r\nHost:";
    host_with_user_returns_400: "GET / HTTP/1.1\r\nHost: user@a";
    host_with_path_returns_400: "GET / HTTP/1.1\r\nHost: a/b";
    host_with_two_names_returns_400: "GET / HTTP/1.1\r\nHost: a b";
    host_with_invalid_port_returns_400: "GET / HTTP/1.1\r\nHost: a:b";
    host_with_scheme_returns_400: "GET / HTTP/1.1\r\nHost: http://a";
    invalid_host_with_absolute_target_returns_400: "GET http://a/ HTTP/1.1\r\nHost: a b";
    invalid_host_in_http_1_0_returns_400: "GET / HTTP/1.0\r\nHost: a b";
}

#[tokio::test]
async fn http_1_0_does_not_require_host() {
    let server = Server::start_default().await;
    assert_eq!(status(&server.exchange("GET / HTTP/1.0\r\n\r\n").await), "200");
    assert_eq!(status(&server.exchange("GET http://a/ HTTP/1.0\r\n\r\n").await), "200");
}

#[tokio::test]
async fn host_can_be_name_or_address_with_port() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    for host in ["example.com", "example.com:8080", "127.0.0.1:80", "[::1]:80", "[::1]"] {
        client.send(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert_eq!(status(&client.response().await), "200", "{host}");
    }
}
