//! Responses are requested without a content coding, and the error about a coded one names the coding.

use catalogue_core::auth::introspected::Introspect as _;
use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{ClientCredentials, Introspection, IssuerKeys, IssuerUrl, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Returns the URL of a server that sends header `fields` and the body `{}`, with a 406 if the request accepts a coding.
async fn start_server(fields: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
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
    origin
}

/// Returns the outcomes of fetching keys and metadata and of introspection, each from a server that sends `fields`.
async fn fetch_and_introspect(fields: &'static str) -> [Result<String, String>; 3] {
    let origin = start_server(fields).await;
    let url = || IssuerUrl::parse(&origin).unwrap();
    let keys = IssuerKeys::new("https://a", KeySource::Url(url())).unwrap().fetch().await;
    let metadata = IssuerKeys::new(&origin, KeySource::Metadata).unwrap().fetch().await;
    let introspected = Introspection::new(url(), ClientCredentials::new("c", "s")).unwrap().introspect("opaque").await;
    [keys, metadata, introspected].map(|outcome| match outcome {
        Ok(body) => Ok(String::from_utf8(body.to_vec()).unwrap()),
        Err(error) => Err(error.to_string()),
    })
}

#[tokio::test]
async fn responses_without_coding_are_requested_and_read() {
    for fields in ["", "Content-Encoding: identity\r\n", "Content-Encoding: IDENTITY\r\n", "Content-Encoding:\r\n"] {
        let [keys, metadata, introspected] = fetch_and_introspect(fields).await;
        assert_eq!([keys, introspected], [Ok("{}".to_owned()), Ok("{}".to_owned())], "{fields}");
        let why = metadata.unwrap_err();
        assert!(why.contains("missing field `issuer`"), "read, but not metadata: {why}");
    }
}

#[tokio::test]
async fn error_names_coding_of_response() {
    for (fields, coding) in [
        ("Content-Encoding: gzip\r\n", "\"gzip\""),
        ("Content-Encoding: identity\r\nContent-Encoding: br\r\n", "\"br\""),
        ("Content-Encoding: deflate, gzip\r\n", "\"deflate, gzip\""),
    ] {
        for outcome in fetch_and_introspect(fields).await {
            let why = outcome.unwrap_err();
            assert!(why.contains(&format!("has the Content-Encoding {coding}")) && why.contains("127.0.0.1"), "{why}");
        }
    }
}
