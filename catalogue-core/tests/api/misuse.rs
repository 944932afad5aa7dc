//! What a host may get wrong when it builds a catalogue: each is refused with a sentence that says what would be right.

use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::MemoryStorage;
use catalogue_core::{Catalogue, CatalogueBuilder};

fn builder() -> CatalogueBuilder {
    Catalogue::with_api_keys(MemoryStorage::new())
}

fn assert_refused(builder: CatalogueBuilder, what: &str, advice: &str) {
    let sentence = builder.build().expect_err("a catalogue that cannot be").to_string();
    assert!(sentence.contains(what) && sentence.contains(advice), "{sentence}");
}

#[test]
fn an_address_that_cannot_be_mounted_at() {
    let advice = "write an address like https://api.example.com/api/v1 or /api/v1";
    assert_refused(builder().base_url("api/v1"), "the base address \"api/v1\"", advice);
    assert_refused(builder().base_url("/api?v=1"), "it has a query or a fragment", advice);
    assert_refused(builder().docs_url("ftp://example.com"), "the documents' address", advice);
    assert_refused(builder().docs_url("//docs"), "cannot be mounted at", advice);
}

#[test]
fn one_path_for_two_addresses() {
    assert_refused(builder().base_url("/api").docs_url("https://docs.example.com/api/"), "the same path", "give each");
}

#[test]
fn documents_in_the_place_of_an_operation() {
    let builder = builder().base_url("/api").docs_url("/api/courses");
    assert_refused(builder, "would hide the operation", "move the documents' address elsewhere");
}

#[test]
fn documents_below_the_api_are_no_fault() {
    assert!(builder().base_url("/api").docs_url("/api/docs").build().is_ok());
}

#[test]
fn no_kind_of_credential() {
    assert_refused(builder().accept([]), "no kind of credential is accepted", "accept one at least");
    assert!(builder().accept([CredentialKind::OAuth]).build().is_ok());
}

#[test]
fn an_origin_with_a_path() {
    let builder = builder().cors_origins(["https://app.example.com/"]);
    assert_refused(builder, "is not an origin", "write a scheme, a host and a port");
}
