//! Responses that are read, and responses that are refused: by status, content coding and length.

use std::path::Path;

use catalogue_core::auth::introspected::Introspect as _;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, KeySource};

use crate::metadata::{self, OPENID, RFC_8414};
use crate::server::{Server, ok, response};

const TOKEN: &str = "opaque-text";

type Outcome = Result<String, String>;

async fn fetch(issuer: &str, source: KeySource) -> Outcome {
    metadata::fetch(&IssuerKeys::new(issuer, source).unwrap()).await
}

/// Returns the outcomes of fetching keys and of introspection, from a server that sends `response`.
async fn fetch_and_introspect(server: &Server) -> [Outcome; 2] {
    let credentials = ClientCredentials::new("c", "s");
    let introspected = Introspection::new(server.url(), credentials).unwrap().introspect(TOKEN).await;
    let introspected = introspected.map(|body| String::from_utf8(body.to_vec()).unwrap());
    [fetch("https://a", KeySource::Url(server.url())).await, introspected.map_err(|error| error.to_string())]
}

/// A body with status 200 and without a content coding is read. No redirect is followed.
#[tokio::test]
async fn responses_are_read_or_refused_with_reason() {
    for (response, expected) in [
        (ok("{}"), Ok("{}")),
        (response(200, "Content-Encoding: identity\r\n", "{}"), Ok("{}")),
        (response(200, "Content-Encoding: IDENTITY\r\n", "{}"), Ok("{}")),
        (response(200, "Content-Encoding:\r\n", "{}"), Ok("{}")),
        (response(200, "Content-Type: application/jwk-set+json\r\n", "{}"), Ok("{}")),
        (response(200, "Content-Type: text/html\r\n", "{}"), Ok("{}")),
        (response(200, "Content-Encoding: gzip\r\n", "{}"), Err("has the Content-Encoding \"gzip\"")),
        (
            response(200, "Content-Encoding: identity\r\nContent-Encoding: br\r\n", "{}"),
            Err("has the Content-Encoding \"br\""),
        ),
        (response(200, "Content-Encoding: deflate, gzip\r\n", "{}"), Err("has the Content-Encoding \"deflate, gzip\"")),
        (response(302, "Location: /keys\r\n", "{}"), Err("unexpected status 302")),
        (response(308, "Location: /keys\r\n", "{}"), Err("unexpected status 308")),
        (response(206, "", "{}"), Err("unexpected status 206")),
        (response(500, "", "{}"), Err("unexpected status 500")),
        (response(503, "", "{}"), Err("unexpected status 503")),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\n{}".to_owned(), Err("end of file")),
        ("no HTTP at all".to_owned(), Err("invalid HTTP")),
    ] {
        let body = response.clone();
        let server = Server::start(move |_, _| Some(body.clone())).await;
        let [keys, introspected] = fetch_and_introspect(&server).await;
        let metadata = fetch(&server.origin, KeySource::Metadata).await;
        assert_eq!(server.take_paths(), ["/", "/", OPENID, RFC_8414], "{response}");
        let refused = match expected {
            Ok(body) => {
                assert_eq!([keys.as_deref(), introspected.as_deref()], [Ok(body); 2], "{response}");
                assert!(metadata.unwrap_err().contains("missing field `issuer`"), "read, but not metadata: {response}");
                continue;
            }
            Err(why) => why,
        };
        for outcome in [keys, introspected, metadata] {
            let why = outcome.unwrap_err();
            assert!(why.contains(refused) && why.contains("127.0.0.1") && !why.contains(TOKEN), "{response}: {why}");
        }
    }
}

#[tokio::test]
async fn keys_are_limited_to_256_kib_and_introspection_to_64_kib() {
    for (bytes, is_read) in [
        (64 << 10, [true, true]),
        ((64 << 10) + 1, [true, false]),
        (256 << 10, [true, false]),
        ((256 << 10) + 1, [false; 2]),
    ] {
        let server = Server::start(move |_, _| Some(ok(&" ".repeat(bytes)))).await;
        for (outcome, is_read) in fetch_and_introspect(&server).await.into_iter().zip(is_read) {
            match outcome {
                Ok(body) => assert!(is_read && body.len() == bytes, "{bytes}"),
                Err(why) => assert!(!is_read && why.contains("length limit exceeded"), "{bytes}: {why}"),
            }
        }
    }
}

/// A file is read up to one byte beyond the limit, so that the core can detect a longer set.
#[tokio::test]
async fn key_file_is_read_up_to_limit() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("set");
    let file = || fetch("https://a", KeySource::File(path.clone()));
    for (bytes, read) in
        [(2, 2), (256 << 10, 256 << 10), ((256 << 10) + 1, (256 << 10) + 1), (300_000, (256 << 10) + 1)]
    {
        std::fs::write(&path, " ".repeat(bytes)).unwrap();
        assert_eq!(file().await.map(|set| set.len()), Ok(read), "{bytes}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(file().await.unwrap_err().contains("set: "));
}
