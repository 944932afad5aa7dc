//! The host applications behave the same on all frameworks and servers, except for [`ROUTED_DIFFERENTLY`].

use std::io::{Read, Write};

use crate::data::{ACCOUNT, Data};
use crate::http::{TestResponse, request};
use crate::program::{Host, example};

macro_rules! hosts {
    ($($name:ident)*) => {$(
        mod $name {
            hosts! { @laws stringify!($name);
                host_routes_and_catalogue_are_both_served
                catalogue_responses_are_unchanged
                running_request_finishes_on_shutdown
                invalid_options_are_reported
            }
        }
    )*};
    (@laws $name:expr; $($law:ident)*) => {$(
        #[tokio::test]
        async fn $law() {
            super::$law($name).await;
        }
    )*};
}

hosts! { axum hyper open_internet warp actix poem rocket }

/// Examples and targets to which the framework's router responds instead of the catalogue, each with the status.
const ROUTED_DIFFERENTLY: [(&str, &str, u16); 3] =
    [("poem", "/api/v1/courses/%ff", 400), ("poem", "*", 404), ("rocket", "//about", 200)];

/// Asserts that `response` is the catalogue's 404 for `target`, or has the status in [`ROUTED_DIFFERENTLY`].
fn assert_not_found(name: &str, target: &str, response: &TestResponse) {
    let routed = ROUTED_DIFFERENTLY.iter().find(|(host, other, _)| (*host, *other) == (name, target));
    match routed {
        Some((.., status)) => assert_eq!(response.status, *status, "{target}"),
        None => assert_eq!(response.failure(), (404, "not_found".to_owned()), "{target}"),
    }
}

async fn host_routes_and_catalogue_are_both_served(name: &str) {
    let data = Data::new().await;
    let host = Host::start(name, &data.database_url());
    let about = host.send("GET", "/about", "");
    assert_eq!((about.status, &*about.body), (200, "a host application"));
    let echo = TestResponse::to(&host.address, &request("POST", "/echo", "", "said"));
    assert_eq!((echo.status, &*echo.body), (200, "said"));
    for target in ["/", "/elsewhere?q=1", "/about/us", "//about", "/api/v2/me", "/docs/nothing"] {
        assert_not_found(name, target, &host.send("GET", target, ""));
    }
    assert_eq!(host.send("GET", "/docs/openapi.json", "").json()["openapi"], "3.1.0");
}

async fn catalogue_responses_are_unchanged(name: &str) {
    let data = Data::new().await;
    let host = Host::start(name, &data.database_url());
    let key = data.key().await;
    let authorization = format!("Authorization: Bearer {}\n", key.expose());
    let head = host.send("HEAD", "/api/v1/courses", &authorization);
    let page = host.send("GET", "/api/v1/courses", &authorization);
    let list = page.json();
    let slugs: Vec<_> = list["data"].as_array().unwrap().iter().map(|course| &course["slug"]).collect();
    assert_eq!(slugs, ["two", "one"]);
    assert_eq!((head.status, &*head.body), (200, ""));
    assert_eq!(head.header("content-length"), Some(&*page.body.len().to_string()));
    assert_eq!(host.send("OPTIONS", "/api/v1/courses", "").header("allow"), Some("GET, HEAD, OPTIONS"));
    assert_eq!(host.send("PUT", "/api/v1/courses", &authorization).failure().0, 405);
    assert_eq!(host.get("/api/v1/courses?limit=1&limit=2", key.expose()).failure().0, 400);
    for target in ["/api/v1/courses/a%2Fb", "/api/v1//courses", "/api/v1/courses/", "/api/v1/courses/%ff"] {
        assert_not_found(name, target, &host.get(target, key.expose()));
    }
    assert_eq!(host.get("http://elsewhere/api/v1/courses?limit=1", key.expose()).status, 200);
    assert_not_found(name, "*", &host.send("OPTIONS", "*", ""));
    let with_body = request("GET", "/api/v1/me", &authorization, "an unread body");
    assert_eq!(TestResponse::to(&host.address, &with_body).json()["data"]["userId"], ACCOUNT);
    assert_eq!(host.send("GET", "/api/v1/me", "").failure(), (401, "unauthorized".to_owned()));
    let not_modified = format!("{authorization}If-None-Match: {}\n", page.header("etag").unwrap());
    assert_eq!(host.send("GET", "/api/v1/courses", &not_modified).status, 304);
    host.signal("TERM");
    let (status, out, log) = host.output();
    assert_eq!((status, &*out), (Some(0), ""));
    assert!(!log.contains(key.expose()), "{log}");
}

/// The signal arrives while a route waits for the rest of a body.
async fn running_request_finishes_on_shutdown(name: &str) {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

    let data = Data::new().await;
    for signal in ["TERM", "INT"] {
        let host = Host::start(name, &data.database_url());
        let mut stream = host.connect();
        let head = request("POST", "/echo", "Expect: 100-continue\nContent-Length: 4\n", "");
        stream.write_all(head.as_bytes()).unwrap();
        let mut interim = [0; CONTINUE.len()];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(interim, CONTINUE);
        host.signal(signal);
        host.wait_until_closed();
        stream.write_all(b"late").unwrap();
        let response = TestResponse::read(&mut stream);
        assert_eq!((response.status, &*response.body), (200, "late"));
        let (status, out, err) = host.output();
        assert_eq!((status, &*out), (Some(0), ""), "{err}");
    }
}

async fn invalid_options_are_reported(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let missing = format!("sqlite:{}", directory.path().join("missing").join("c.db").display());
    for (options, status, piece) in [
        (["--port", "8080"], 2, "unexpected argument '--port'"),
        (["--database", "catalogue.db"], 2, "use sqlite:PATH"),
        (["--listen", "localhost"], 2, "'localhost'"),
        (["--database", &missing], 1, "does not exist; create it first"),
    ] {
        let output = example(name).args(options).current_dir(directory.path()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*output.stdout), (Some(status), &b""[..]), "{message}");
        let short = message.lines().count() <= 5 && !message.contains("panicked");
        assert!(message.contains(piece) && short, "{message}");
    }
}
