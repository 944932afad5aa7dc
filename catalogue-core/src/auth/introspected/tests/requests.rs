//! Selection of the tokens that are introspected (decision O35).

use super::fixture::*;
use crate::auth::{CredentialKind, NewToken, Verdict};

#[test]
fn own_and_signed_token_formats_are_not_introspected() {
    let fixture = Fixture::accepting();
    let [key, token] = [CredentialKind::ApiKey, CredentialKind::OAuth].map(NewToken::mint);
    for text in [key.expose(), token.expose(), "ccat_mistyped", "cato_", "e30.e30.", "a.b.c", "eyJhbGci.e30.c2ln"] {
        fixture.ignores(text, text, None);
    }
    assert!(fixture.source.requests().is_empty());
}

#[test]
fn opaque_tokens_are_introspected_verbatim() {
    let fixture = Fixture::accepting();
    let texts = ["x", "ory_at_a-b.c", "a.b.c.d.e", "a.b.c=", "a.~.c", "CCAT_x", "xccat_x", "AZaz09-._~+/=="];
    for text in texts {
        fixture.accepts_as("accepted", text);
    }
    assert_eq!(fixture.source.requests(), texts);
}

#[test]
fn overlong_token_is_refused_without_introspection() {
    let fixture = Fixture::accepting();
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&"x".repeat(8193));
    assert!(matches!(verdict, Ok(Verdict::Refused(_, Some(_)))) && outcomes == ["length"], "{verdict:?} {outcomes:?}");
    assert!(fixture.source.requests().is_empty());
    fixture.accepts_as("accepted", &"x".repeat(8192));
}
