//! Headers of all responses, including errors.

use bytes::Bytes;
use http::Response;

use crate::app::{App, get};

/// Checks the headers of a response. `TestResponse::of` calls it for each response of these tests.
#[track_caller]
pub(crate) fn check(response: &Response<Bytes>) {
    let header = |name: &str| {
        let mut values = response.headers().get_all(name).iter();
        let value = values.next().unwrap_or_else(|| panic!("{name} is missing")).to_str().unwrap();
        assert!(values.next().is_none(), "{name} is repeated");
        value
    };
    for (name, value) in [
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    let policy = header("content-security-policy");
    let directives: Vec<&str> = policy.split("; ").collect();
    assert_eq!(directives.len(), 10, "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    assert!(!header("x-request-id").is_empty());
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    if response.status() != 204 {
        let length: usize = header("content-length").parse().unwrap();
        assert!(response.body().is_empty() || response.body().len() == length);
    }
    if response.status() == 401 {
        assert_eq!(header("www-authenticate"), "Cookie realm=\"catalogue-settings\"");
    }
}

#[tokio::test]
async fn policy_allows_own_style_script_and_api() {
    for (settings, base, connect) in [
        ("/settings", "/api/v1", "connect-src 'self'"),
        ("https://a.example/settings", "https://a.example/api/v1", "connect-src 'self'"),
        ("https://a.example/settings", "https://b.example:8443/v1", "connect-src 'self' https://b.example:8443"),
        ("https://a.example/settings", "http://[::1]:80/v1", "connect-src 'self'"),
    ] {
        let app = App::with(|builder| builder.settings_url(settings).base_url(base)).await;
        let page = app.get("/settings").await;
        let policy = page.header("content-security-policy").unwrap();
        let directives: Vec<&str> = policy.split("; ").collect();
        assert!(directives.contains(&connect), "{policy}");
        for directive in ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(directives.contains(&directive), "{policy}");
        }
        assert_eq!(policy.matches("'sha256-").count(), 2);
    }
}

#[tokio::test]
async fn head_has_no_body_and_options_lists_methods() {
    let app = App::new().await;
    for path in ["/settings", "/settings/keys/new", "/settings/api/keys", "/settings/keys/none"] {
        let page = app.get(path).await;
        let head = app.call(http::Request::head(path).body(String::new()).unwrap()).await;
        assert_eq!((head.status, &*head.body), (page.status, ""), "{path}");
        assert_eq!(head.header("content-type"), page.header("content-type"));
    }
    for (path, allow) in [
        ("/settings/", "GET, HEAD, OPTIONS"),
        ("/settings/keys", "POST, OPTIONS"),
        ("/settings/keys/new", "GET, HEAD, OPTIONS"),
        ("/settings/keys/k/revoke", "GET, HEAD, POST, OPTIONS"),
        ("/settings/api/keys/k", "GET, HEAD, PATCH, OPTIONS"),
    ] {
        let options = app.call(http::Request::options(path).body(String::new()).unwrap()).await;
        assert_eq!((options.status, options.header("allow")), (204, Some(allow)), "{path}");
        assert_eq!(options.body, "", "{path}");
        let put = app.call(http::Request::put(path).body(String::new()).unwrap()).await;
        assert_eq!((put.status, put.header("allow")), (405, Some(allow)), "{path}");
    }
}

#[tokio::test]
async fn response_repeats_request_id() {
    let app = App::new().await;
    let mut request = get("/settings");
    request.headers_mut().insert("x-request-id", "abc-1".parse().unwrap());
    assert_eq!(app.call(request).await.header("x-request-id"), Some("abc-1"));
}

/// Style and script must be the bytes whose digests the policy names. The macro escapes all other text.
#[test]
fn only_style_and_script_are_unescaped() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut unescaped, mut folders) = (0, vec![directory]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                unescaped += std::fs::read_to_string(path).unwrap().matches("PreEscaped(").count();
            } else {
                let text = std::fs::read_to_string(path).unwrap().to_ascii_lowercase();
                assert!(!["</style", "</script", "<!--", "\r", "\0"].iter().any(|end| text.contains(end)));
            }
        }
    }
    assert_eq!(unescaped, 2);
}
