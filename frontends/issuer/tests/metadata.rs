//! Discovery of an issuer's metadata (decision O22) at two URLs, of which one or both have no usable metadata.

use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{IssuerKeys, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const OPENID: &str = "/tenant/.well-known/openid-configuration";
const RFC_8414: &str = "/.well-known/oauth-authorization-server/tenant";

/// Function from the server's origin and a requested path to the response's body, or `None` for a 404.
type ResponseFor = fn(&str, &str) -> Option<String>;

/// Fetches the keys of the issuer `/tenant` from a server with these responses. Returns the outcome and the requested paths.
async fn fetch(response: ResponseFor) -> (Result<String, String>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let keys = IssuerKeys::new(&format!("{origin}/tenant"), KeySource::Metadata).unwrap();
    let mut requested = Vec::new();
    let serving = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]);
            let path = request.split(' ').nth(1).unwrap().to_owned();
            let (status, body) = response(&origin, &path).map_or((404, String::new()), |body| (200, body));
            let head = format!("HTTP/1.1 {status} A\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.unwrap();
            requested.push(path);
        }
    };
    let fetched = tokio::select! {
        fetched = keys.fetch() => fetched,
        () = serving => unreachable!("the server never stops"),
    };
    let text = fetched.map(|set| String::from_utf8(set.to_vec()).unwrap()).map_err(|error| error.to_string());
    (text, requested)
}

fn metadata(issuer: &str, origin: &str) -> String {
    format!(r#"{{"issuer":"{issuer}","jwks_uri":"{origin}/keys"}}"#)
}

/// Returns the response of a server with keys at `/keys`, metadata at `path`, and `other` at all other paths.
fn metadata_at(origin: &str, requested: &str, path: &str, other: &str) -> Option<String> {
    match requested {
        "/keys" => Some("the set".to_owned()),
        _ if requested == path => Some(metadata(&format!("{origin}/tenant"), origin)),
        _ => Some(other.to_owned()),
    }
}

#[tokio::test]
async fn second_url_is_fetched_when_first_has_no_metadata() {
    let first_responses: [(&str, ResponseFor); 5] = [
        ("HTML", |origin, path| metadata_at(origin, path, RFC_8414, "<!doctype html><title>Sign in</title>")),
        ("nothing", |origin, path| metadata_at(origin, path, RFC_8414, "")),
        ("no metadata", |origin, path| metadata_at(origin, path, RFC_8414, r#"{"error":"not_found"}"#)),
        ("metadata of another issuer", |origin, path| metadata_at(origin, path, RFC_8414, &metadata(origin, origin))),
        ("an invalid URL of keys", |origin, path| {
            let elsewhere = metadata(&format!("{origin}/tenant"), "http://id.example.com");
            metadata_at(origin, path, RFC_8414, &elsewhere)
        }),
    ];
    for (name, response) in first_responses {
        let (set, requested) = fetch(response).await;
        assert_eq!(set.as_deref(), Ok("the set"), "{name}");
        assert_eq!(requested, [OPENID, RFC_8414, "/keys"], "{name}");
    }
}

#[tokio::test]
async fn second_url_is_ignored_when_first_has_metadata() {
    let (set, requested) = fetch(|origin, path| metadata_at(origin, path, OPENID, "<html>")).await;
    assert_eq!((set.as_deref(), requested.len()), (Ok("the set"), 2));
}

#[tokio::test]
async fn error_names_problems_of_both_urls() {
    let (set, requested) = fetch(|origin, path| match path {
        OPENID => Some("<html>".to_owned()),
        RFC_8414 => Some(metadata(&origin.replace("127.0.0.1", "localhost"), origin)),
        _ => None,
    })
    .await;
    let why = set.unwrap_err();
    for part in [OPENID, "invalid issuer metadata", RFC_8414, "configure that name"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert_eq!(requested, [OPENID, RFC_8414], "keys of another issuer are not fetched");
}
