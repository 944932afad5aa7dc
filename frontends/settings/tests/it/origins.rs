//! Requests and embedding by pages of other origins.

use catalogue_settings::Owner;
use http::Request;

use crate::app::{App, TestResponse, get, json_request};

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// Headers of a request, and whether settings at a path and settings at an absolute URL accept it.
type Case = (&'static [(&'static str, &'static str)], [bool; 2]);

const CASES: [Case; 27] = [
    (&[("content-type", FORM), ("sec-fetch-site", "same-origin")], [true, true]),
    (&[("content-type", FORM), ("sec-fetch-site", "none")], [true, true]),
    (&[("content-type", FORM), ("sec-fetch-site", "same-site")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "cross-site")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "Same-Origin")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "same-origin")], [false, false]),
    // The origin is checked in addition to `sec-fetch-site`.
    (&[("content-type", FORM), ("sec-fetch-site", "same-origin"), ("origin", "https://a.example")], [true, true]),
    (&[("content-type", FORM), ("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "none"), ("origin", "https://evil.example")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "none"), ("origin", "null")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "same-origin"), ("origin", "http://a.example")], [true, false]),
    (&[("content-type", JSON), ("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")], [false, false]),
    (&[("content-type", FORM), ("sec-fetch-site", "cross-site"), ("origin", "https://a.example")], [false, false]),
    (&[("content-type", FORM), ("origin", "https://a.example")], [true, true]),
    (&[("content-type", FORM), ("origin", "https://a.example:443")], [true, true]),
    (&[("content-type", FORM), ("origin", "HTTPS://A.example")], [true, true]),
    // Settings at a path do not know the scheme.
    (&[("content-type", FORM), ("origin", "http://a.example")], [true, false]),
    (&[("content-type", FORM), ("origin", "https://a.example:8443")], [false, false]),
    (&[("content-type", FORM), ("origin", "https://a.example.evil.example")], [false, false]),
    (&[("content-type", FORM), ("origin", "https://evil.example")], [false, false]),
    (&[("content-type", FORM), ("origin", "null")], [false, false]),
    (&[("content-type", FORM), ("origin", "https://a.example"), ("origin", "https://a.example")], [false, false]),
    (&[("content-type", FORM)], [false, false]),
    (&[], [false, false]),
    (&[("content-type", "text/plain")], [false, false]),
    (&[("content-type", JSON)], [true, true]),
    (&[("content-type", JSON), ("origin", "https://evil.example")], [false, false]),
];

#[tokio::test]
async fn changes_are_accepted_only_from_own_pages() {
    for (number, settings) in ["/settings", "https://a.example/settings"].into_iter().enumerate() {
        let app = App::with(|builder| builder.settings_url(settings)).await;
        for (headers, accepted) in CASES {
            for path in ["/settings/check", "/settings/api/check"] {
                let mut request = Request::post(path).header("host", "a.example");
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                let response = app.call(request.body("token=a".to_owned()).unwrap()).await;
                // An accepted request can still have the wrong content type.
                assert_eq!(
                    response.status != 403,
                    accepted[number],
                    "{settings} {path} {headers:?}: {}",
                    response.status
                );
            }
        }
    }
    let app = App::new().await;
    let mut request = json_request("POST", "/settings/api/check", &serde_json::json!({ "token": "a" }));
    request.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    let failure = app.call(request).await.failure();
    assert_eq!(failure, (403, "invalid_request".to_owned(), Some("cross_site".to_owned())));
}

/// Browsers send the origin of a read if a script of another origin makes it.
#[tokio::test]
async fn reads_with_another_origin_are_refused() {
    let app = App::new().await;
    for (origin, status) in [("https://a.example", 200), ("https://evil.example", 403), ("null", 403)] {
        for path in ["/settings", "/settings/api/keys"] {
            let request = Request::get(path).header("host", "a.example").header("origin", origin);
            assert_eq!(app.call(request.body(String::new()).unwrap()).await.status, status, "{path} {origin}");
        }
    }
}

#[tokio::test]
async fn http2_host_is_taken_from_target() {
    let app = App::new().await;
    for (target, status) in [("https://a.example/settings/check", 200), ("https://b.example/settings/check", 403)] {
        let request = Request::post(target).header("content-type", FORM).header("origin", "https://a.example");
        assert_eq!(app.call(request.body("token=a".to_owned()).unwrap()).await.status, status);
    }
}

#[tokio::test]
async fn other_sites_can_link_but_not_embed() {
    let app = App::new().await;
    for (site, dest, status) in [
        ("cross-site", "document", 200),
        ("cross-site", "iframe", 403),
        ("cross-site", "empty", 403),
        ("cross-site", "image", 403),
        ("same-origin", "empty", 200),
        ("none", "document", 200),
    ] {
        for path in ["/settings", "/settings/api/keys"] {
            let request = Request::get(path).header("sec-fetch-site", site).header("sec-fetch-dest", dest);
            assert_eq!(app.call(request.body(String::new()).unwrap()).await.status, status, "{site} {dest}");
        }
    }
}

#[tokio::test]
async fn caller_without_account_is_refused() {
    let app = App::new().await;
    for (path, media_type) in
        [("/settings", "text/html"), ("/settings/keys/new", "text/html"), ("/settings/api/keys", "json")]
    {
        let response = TestResponse::of(app.settings.refuse(get(path)).await);
        assert_eq!(response.status, 403, "{path}");
        assert!(
            response.header("content-type").unwrap().contains(media_type)
                && response.body.contains("Contact the operator of this")
        );
        if path.contains("api") {
            assert_eq!(response.reason(), "no_owner");
        }
        assert!(response.labels.account.is_none() && response.labels.action != "none", "{response:?}");
        for (account, status) in [("nobody", 403), ("anna", 200)] {
            let response = app.call_by(Owner::unverified(account.into()), get(path)).await;
            assert_eq!((response.status, response.labels.account.is_some()), (status, status == 200), "{path}");
        }
    }
}
