//! A fetch continues without being polled: a request may begin one and be dropped.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{IssuerKeys, IssuerUrl, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

#[tokio::test]
async fn fetch_continues_without_polling() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = IssuerUrl::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let keys = IssuerKeys::new("https://a", KeySource::Url(url)).unwrap();
    let mut fetch = pin!(keys.fetch());
    assert!(matches!(fetch.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    let response = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await.unwrap();
        // A client that has read everything disconnects.
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    };
    timeout(Duration::from_secs(60), response).await.expect("the fetch continues without polling");
    assert_eq!(fetch.await.unwrap(), "{}");
}
