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
    a_missing_host: "GET / HTTP/1.1";
    a_missing_host_beside_an_absolute_target: "GET http://a/ HTTP/1.1";
    a_missing_host_on_connect: "CONNECT a:443 HTTP/1.1";
    a_missing_host_on_head: "HEAD / HTTP/1.1";
    a_second_host: "GET / HTTP/1.1\r\nHost: a\r\nHost: b";
    the_same_host_twice: "GET / HTTP/1.1\r\nHost: a\r\nHost: a";
    two_hosts_in_http_1_0: "GET / HTTP/1.0\r\nHost: a\r\nHost: b";
    an_empty_host: "GET / HTTP/1.1\r\nHost:";
    a_host_with_user: "GET / HTTP/1.1\r\nHost: user@a";
    a_host_with_path: "GET / HTTP/1.1\r\nHost: a/b";
    a_host_with_two_names: "GET / HTTP/1.1\r\nHost: a b";
    a_host_without_port_number: "GET / HTTP/1.1\r\nHost: a:b";
    a_host_with_scheme: "GET / HTTP/1.1\r\nHost: http://a";
    an_invalid_host_beside_an_absolute_target: "GET http://a/ HTTP/1.1\r\nHost: a b";
    an_invalid_host_in_http_1_0: "GET / HTTP/1.0\r\nHost: a b";
}

#[tokio::test]
async fn http_1_0_needs_no_host() {
    let server = Server::start_default().await;
    assert_eq!(status(&server.exchange("GET / HTTP/1.0\r\n\r\n").await), "200");
    assert_eq!(status(&server.exchange("GET http://a/ HTTP/1.0\r\n\r\n").await), "200");
}

#[tokio::test]
async fn a_host_may_be_a_name_or_an_address_with_a_port() {
    let server = Server::start_default().await;
    let mut client = server.connect().await;
    for host in ["example.com", "example.com:8080", "127.0.0.1:80", "[::1]:80", "[::1]"] {
        client.send(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert_eq!(status(&client.response().await), "200", "{host}");
    }
}
