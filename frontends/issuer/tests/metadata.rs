//! Where an issuer's metadata are found (decision O22): at one of two addresses, the other of which may answer something else.

use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{IssuerKeys, KeySource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const OPENID: &str = "/tenant/.well-known/openid-configuration";
const RFC_8414: &str = "/.well-known/oauth-authorization-server/tenant";

/// A server's own address and what it answers at a path; `None` is 404.
type ResponseFor = fn(&str, &str) -> Option<String>;

/// What comes of a fetch from the issuer `/tenant` of a server that answers so, and which paths it was asked for.
async fn fetched(response: ResponseFor) -> (Result<String, String>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let here = format!("http://{}", listener.local_addr().unwrap());
    let keys = IssuerKeys::new(&format!("{here}/tenant"), KeySource::Metadata).unwrap();
    let mut requested = Vec::new();
    let serving = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]);
            let path = request.split(' ').nth(1).unwrap().to_owned();
            let (status, body) = response(&here, &path).map_or((404, String::new()), |body| (200, body));
            let head = format!("HTTP/1.1 {status} A\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).await.unwrap();
            requested.push(path);
        }
    };
    let fetched = tokio::select! {
        fetched = keys.fetch() => fetched,
        () = serving => unreachable!("it serves without end"),
    };
    let text = fetched.map(|set| String::from_utf8(set.to_vec()).unwrap()).map_err(|error| error.to_string());
    (text, requested)
}

fn metadata(issuer: &str, here: &str) -> String {
    format!(r#"{{"issuer":"{issuer}","jwks_uri":"{here}/keys"}}"#)
}

/// What the server answers that has its metadata at `path`, and `other` wherever else it is asked.
fn one_of_both(here: &str, requested: &str, path: &str, other: &str) -> Option<String> {
    match requested {
        "/keys" => Some("the set".to_owned()),
        _ if requested == path => Some(metadata(&format!("{here}/tenant"), here)),
        _ => Some(other.to_owned()),
    }
}

#[tokio::test]
async fn the_second_address_is_asked_where_the_first_has_no_metadata_of_this_issuer() {
    let firsts: [(&str, ResponseFor); 5] = [
        ("HTML", |here, path| one_of_both(here, path, RFC_8414, "<!doctype html><title>Sign in</title>")),
        ("nothing", |here, path| one_of_both(here, path, RFC_8414, "")),
        ("no metadata", |here, path| one_of_both(here, path, RFC_8414, r#"{"error":"not_found"}"#)),
        ("those of another issuer", |here, path| one_of_both(here, path, RFC_8414, &metadata(here, here))),
        ("keys that cannot be asked for", |here, path| {
            let elsewhere = metadata(&format!("{here}/tenant"), "http://id.example.com");
            one_of_both(here, path, RFC_8414, &elsewhere)
        }),
    ];
    for (name, response) in firsts {
        let (set, requested) = fetched(response).await;
        assert_eq!(set.as_deref(), Ok("the set"), "{name}");
        assert_eq!(requested, [OPENID, RFC_8414, "/keys"], "{name}");
    }
}

#[tokio::test]
async fn what_the_second_address_has_does_not_matter_where_the_first_has_metadata() {
    let (set, requested) = fetched(|here, path| one_of_both(here, path, OPENID, "<html>")).await;
    assert_eq!((set.as_deref(), requested.len()), (Ok("the set"), 2));
}

#[tokio::test]
async fn what_both_addresses_lack_is_told() {
    let (set, requested) = fetched(|here, path| match path {
        OPENID => Some("<html>".to_owned()),
        RFC_8414 => Some(metadata(&here.replace("127.0.0.1", "localhost"), here)),
        _ => None,
    })
    .await;
    let why = set.unwrap_err();
    for part in [OPENID, "metadata cannot be read", RFC_8414, "name it as they do"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert_eq!(requested, [OPENID, RFC_8414], "no keys of another issuer's metadata");
}
