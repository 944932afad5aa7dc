//! Answers are asked for without a content coding, and one that has a coding all the same is named.

use catalogue_core::auth::introspected::Introspect as _;
use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, IssuerUrl, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The address of a server that sends these fields with `{}`, and asserts that each request wants no coding.
async fn sending(fields: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]).to_ascii_lowercase();
            let is_plain = request.lines().any(|line| line == "accept-encoding: identity");
            let status = if is_plain { 200 } else { 406 };
            let response = format!("HTTP/1.1 {status} A\r\nContent-Length: 2\r\n{fields}\r\n{{}}");
            stream.write_all(response.as_bytes()).await.unwrap();
        }
    });
    here
}

/// What comes of the keys at an address, of metadata and of introspection, each from a server that sends these fields.
async fn all_three(fields: &'static str) -> [Result<String, String>; 3] {
    let here = sending(fields).await;
    let address = || IssuerUrl::parse(&here).unwrap();
    let keys = IssuerKeys::new("https://a", KeySource::Url(address())).unwrap().fetch().await;
    let metadata = IssuerKeys::new(&here, KeySource::Metadata).unwrap().fetch().await;
    let requested = Introspection::new(address(), ClientCredentials::new("c", "s")).unwrap().introspect("opaque").await;
    [keys, metadata, requested].map(|outcome| match outcome {
        Ok(body) => Ok(String::from_utf8(body.to_vec()).unwrap()),
        Err(error) => Err(error.to_string()),
    })
}

#[tokio::test]
async fn answers_without_a_coding_are_asked_for_and_read() {
    for fields in ["", "Content-Encoding: identity\r\n", "Content-Encoding: IDENTITY\r\n", "Content-Encoding:\r\n"] {
        let [keys, metadata, requested] = all_three(fields).await;
        assert_eq!([keys, requested], [Ok("{}".to_owned()), Ok("{}".to_owned())], "{fields}");
        let why = metadata.unwrap_err();
        assert!(why.contains("missing field `issuer`"), "read, and found to be no metadata: {why}");
    }
}

#[tokio::test]
async fn coding_of_an_answer_is_named() {
    for (fields, coding) in [
        ("Content-Encoding: gzip\r\n", "\"gzip\""),
        ("Content-Encoding: identity\r\nContent-Encoding: br\r\n", "\"br\""),
        ("Content-Encoding: deflate, gzip\r\n", "\"deflate, gzip\""),
    ] {
        for outcome in all_three(fields).await {
            let why = outcome.unwrap_err();
            assert!(why.contains(&format!("has the Content-Encoding {coding}")) && why.contains("127.0.0.1"), "{why}");
        }
    }
}
