//! Mistakes of a host application that builds a catalogue: each is refused with a message that contains the correct form.

use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, CatalogueBuilder};

fn builder() -> CatalogueBuilder {
    Catalogue::with_api_keys(MemoryStorage::new())
}

#[track_caller]
fn assert_refused(builder: CatalogueBuilder, problem: &str, advice: &str) {
    let message = builder.build().expect_err(problem).to_string();
    assert!(message.contains(problem) && message.contains(advice), "{message}");
}

#[test]
fn invalid_and_colliding_urls_are_refused() {
    let form = "use a URL or a path, e.g. https://api.example.com/api/v1 or /api/v1";
    for (base, docs, problem, advice) in [
        ("api/v1", "/docs", "invalid base URL \"api/v1\"", form),
        ("/é", "/docs", "invalid base URL", form),
        ("/api?v=1", "/docs", "it has a query or a fragment", form),
        ("/api", "ftp://example.com/docs", "invalid docs URL", form),
        ("/api", "//docs", "its path has an empty segment", form),
        ("/api", "https://docs.example.com/api/", "the same path", "use different paths"),
        ("/api", "/api/me", "would hide the operation", "use another docs URL"),
        ("/api", "/api/courses", "would hide the operation", "use another docs URL"),
        ("/api", "/api/courses/docs", "would hide the operation", "use another docs URL"),
    ] {
        assert_refused(builder().base_url(base).docs_url(docs), problem, advice);
    }
    assert!(builder().base_url("/api").docs_url("/api/docs").build().is_ok());
}

#[test]
fn at_least_one_credential_kind_is_required() {
    assert_refused(builder().accept([]), "no kind of credential is accepted", "accept at least one");
    assert!(builder().accept([CredentialKind::OAuth]).build().is_ok());
}

#[test]
fn invalid_origins_are_refused() {
    for origin in [
        "",
        "*",
        "null",
        "app.example.com",
        "https://a/",
        "https://a/b",
        "https://a?b",
        "https://u@a",
        "https://a:443",
        "http://a:80",
        "https://*.example.com",
        "ftp://a",
    ] {
        let problem = format!("invalid origin {origin:?}");
        assert_refused(builder().cors_origins([origin]), &problem, "use a scheme, a host and any non-default port");
    }
    assert!(builder().cors_origins(["https://a:80", "http://a:443"]).build().is_ok());
}
