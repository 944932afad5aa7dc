//! Timeouts, and a fetch that is not polled.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use catalogue_core::auth::introspected::Introspect as _;
use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, KeySource};
use tokio::time::{Instant, timeout};

use crate::metadata::OPENID;
use crate::server::{Server, ok};

/// The timeout is for the whole fetch with all its requests, even if bytes keep arriving.
#[tokio::test(start_paused = true)]
async fn fetch_times_out_after_5_seconds_and_introspection_after_2() {
    let silent = Server::start(|_, _| None).await;
    let slow = Server::start(|_, _| Some("HTTP/1.1 200 A\r\nContent-Length: 1000\r\n\r\n".to_owned())).await;
    // The last bytes of the metadata arrive after two seconds, and the keys never.
    let without_keys = Server::start(|origin, path| {
        let metadata = format!("{{\"issuer\":\"{origin}\",\"jwks_uri\":\"{origin}/keys\"}}  ");
        (path == OPENID).then(|| ok(&metadata).trim_end().to_owned())
    })
    .await;
    for (server, paths) in [(&silent, &[OPENID][..]), (&slow, &[OPENID]), (&without_keys, &[OPENID, "/keys"])] {
        let keys = IssuerKeys::new(&server.origin, KeySource::Metadata).unwrap();
        let start = Instant::now();
        let why = keys.fetch().await.unwrap_err().to_string();
        assert!(why.contains("no response within 5s"), "{why}");
        assert_eq!(start.elapsed().as_secs(), 5, "{paths:?}");
        assert_eq!(server.take_paths(), paths);
    }
    for server in [&silent, &slow] {
        let introspection = Introspection::new(server.url(), ClientCredentials::new("c", "s")).unwrap();
        let start = Instant::now();
        let why = introspection.introspect("opaque").await.unwrap_err().to_string();
        assert!(why.contains("no response within 2s"), "{why}");
        assert_eq!(start.elapsed().as_secs(), 2);
    }
}

/// A request may begin a fetch and be dropped.
#[tokio::test]
async fn fetch_continues_without_polling() {
    let server = Server::start(|_, _| Some(ok("{}"))).await;
    let keys = IssuerKeys::new("https://a", KeySource::Url(server.url())).unwrap();
    let mut fetch = pin!(keys.fetch());
    assert!(matches!(fetch.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    // A client that has read everything disconnects.
    timeout(Duration::from_secs(60), server.disconnected()).await.expect("the fetch continues without polling");
    assert_eq!(fetch.await.unwrap(), "{}");
}
