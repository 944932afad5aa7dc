//! Mistakes of a host application that builds a catalogue: each is refused with a message that contains the correct form.

use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, CatalogueBuilder};

fn builder() -> CatalogueBuilder {
    Catalogue::with_api_keys(MemoryStorage::new())
}

fn assert_refused(builder: CatalogueBuilder, problem: &str, advice: &str) {
    let message = builder.build().expect_err("an invalid catalogue").to_string();
    assert!(message.contains(problem) && message.contains(advice), "{message}");
}

#[test]
fn invalid_urls_are_refused() {
    let advice = "use a URL or a path, e.g. https://api.example.com/api/v1 or /api/v1";
    assert_refused(builder().base_url("api/v1"), "invalid base URL \"api/v1\"", advice);
    assert_refused(builder().base_url("/api?v=1"), "it has a query or a fragment", advice);
    assert_refused(builder().docs_url("ftp://example.com"), "invalid docs URL", advice);
    assert_refused(builder().docs_url("//docs"), "its path has an empty segment", advice);
}

#[test]
fn equal_paths_are_refused() {
    assert_refused(
        builder().base_url("/api").docs_url("https://docs.example.com/api/"),
        "the same path",
        "use different paths",
    );
}

#[test]
fn documents_that_hide_an_operation_are_refused() {
    let builder = builder().base_url("/api").docs_url("/api/courses");
    assert_refused(builder, "would hide the operation", "use another docs URL");
}

#[test]
fn documents_may_be_below_the_api() {
    assert!(builder().base_url("/api").docs_url("/api/docs").build().is_ok());
}

#[test]
fn at_least_one_credential_kind_is_required() {
    assert_refused(builder().accept([]), "no kind of credential is accepted", "accept at least one");
    assert!(builder().accept([CredentialKind::OAuth]).build().is_ok());
}

#[test]
fn origin_with_a_path_is_refused() {
    let builder = builder().cors_origins(["https://app.example.com/"]);
    assert_refused(builder, "invalid origin", "use a scheme, a host and any non-default port");
}
