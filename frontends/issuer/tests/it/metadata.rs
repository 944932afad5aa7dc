//! Discovery of an issuer's metadata (decision O22).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue_core::auth::signed::FetchKeys as _;
use catalogue_issuer::{IssuerKeys, KeySource};

use crate::server::{Server, ok, response};

pub(crate) const OPENID: &str = "/.well-known/openid-configuration";
pub(crate) const RFC_8414: &str = "/.well-known/oauth-authorization-server";

/// Function from the server's origin to a response.
type ResponseFor = fn(&str) -> String;

fn metadata(issuer: &str, jwks_uri: &str) -> String {
    ok(&format!(r#"{{"issuer":"{issuer}","jwks_uri":"{jwks_uri}"}}"#))
}

/// Starts a server with `first` as the response at the URL of OIDC Discovery, and with keys. Only if `has_second` is set, it
/// also has metadata at the URL of RFC 8414. The issuer is `/tenant`.
async fn start(first: ResponseFor, has_second: bool) -> Server {
    Server::start(move |origin, path| {
        Some(match path {
            "/keys" => ok("the set"),
            "/tenant/.well-known/openid-configuration" => first(origin),
            "/.well-known/oauth-authorization-server/tenant" if has_second => {
                metadata(&format!("{origin}/tenant"), &format!("{origin}/keys"))
            }
            _ => response(404, "", ""),
        })
    })
    .await
}

pub(crate) async fn fetch(keys: &IssuerKeys) -> Result<String, String> {
    let fetched = keys.fetch().await;
    fetched.map(|set| String::from_utf8(set.to_vec()).unwrap()).map_err(|error| error.to_string())
}

/// The keys of another issuer, or at an untrusted URL, are not fetched.
#[tokio::test]
async fn second_url_is_fetched_when_first_has_no_usable_metadata() {
    let first_responses: [(ResponseFor, &str); 8] = [
        (|_| response(404, "", ""), "unexpected status 404"),
        (|_| ok("<!doctype html><title>Sign in</title>"), "invalid issuer metadata"),
        (|_| ok(""), "invalid issuer metadata"),
        (|_| ok(r#"{"error":"not_found"}"#), "missing field `issuer`"),
        (|origin| ok(&format!(r#"{{"issuer":"{origin}/tenant"}}"#)), "missing field `jwks_uri`"),
        (|origin| metadata(origin, &format!("{origin}/keys")), "configure that name"),
        (
            |origin| metadata(&format!("{origin}/tenant"), "http://id.example.com/keys"),
            "jwks_uri in the metadata: plain HTTP",
        ),
        (|origin| metadata(&format!("{origin}/tenant"), "file:///etc/keys"), "jwks_uri in the metadata: invalid URL"),
    ];
    for (first, why) in first_responses {
        for has_second in [true, false] {
            let server = start(first, has_second).await;
            let keys = IssuerKeys::new(&format!("{}/tenant", server.origin), KeySource::Metadata).unwrap();
            let (set, paths) = (fetch(&keys).await, server.take_paths());
            let urls = [format!("/tenant{OPENID}"), format!("{RFC_8414}/tenant")];
            assert_eq!(paths[..2], urls, "{why}");
            assert_eq!(paths[2..], ["/keys"][..usize::from(has_second)], "{why}");
            if has_second {
                assert_eq!(set.as_deref(), Ok("the set"), "{why}");
                continue;
            }
            let error = set.unwrap_err();
            for part in [why, &urls[0], &urls[1], "unexpected status 404"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}

/// Metadata are cached for an hour, or until a fetch fails.
#[tokio::test]
async fn metadata_are_refetched_after_failed_fetch() {
    let is_unavailable = Arc::new(AtomicBool::new(false));
    let unavailable = Arc::clone(&is_unavailable);
    let server = Server::start(move |origin, path| {
        Some(match path {
            OPENID => metadata(origin, &format!("{origin}/keys")),
            _ if unavailable.load(Ordering::Relaxed) => response(503, "", ""),
            _ => ok("the set"),
        })
    })
    .await;
    let keys = IssuerKeys::new(&server.origin, KeySource::Metadata).unwrap();
    for (fails, paths) in [
        (false, &[OPENID, "/keys"][..]),
        (false, &["/keys"]),
        (true, &["/keys"]),
        (false, &[OPENID, "/keys"]),
        (false, &["/keys"]),
    ] {
        is_unavailable.store(fails, Ordering::Relaxed);
        assert_eq!(fetch(&keys).await.is_err(), fails);
        assert_eq!(server.take_paths(), paths);
    }
}
