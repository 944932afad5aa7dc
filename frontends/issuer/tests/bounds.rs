//! Size limits of responses.

use catalogue_core::auth::introspected::Introspect as _;
use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, IssuerUrl, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Returns the URL of a server that responds to each request with a body of `bytes` bytes.
async fn start_server(bytes: usize) -> IssuerUrl {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = IssuerUrl::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n{}", " ".repeat(bytes));
            // A client that has read enough disconnects.
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn key_set_over_256_kib_is_refused() {
    for (bytes, is_read) in [(256 << 10, true), ((256 << 10) + 1, false)] {
        let keys = IssuerKeys::new("https://a", KeySource::Url(start_server(bytes).await)).unwrap();
        let fetched = keys.fetch().await;
        assert_eq!(fetched.as_ref().is_ok_and(|set| set.len() == bytes), is_read, "{bytes}: {:?}", fetched.err());
    }
}

#[tokio::test]
async fn introspection_response_over_64_kib_is_refused() {
    for (bytes, is_read) in [(64 << 10, true), ((64 << 10) + 1, false)] {
        let introspection = Introspection::new(start_server(bytes).await, ClientCredentials::new("c", "s")).unwrap();
        let outcome = introspection.introspect("opaque-text").await;
        assert_eq!(outcome.as_ref().is_ok_and(|body| body.len() == bytes), is_read, "{bytes}: {:?}", outcome.err());
    }
}
