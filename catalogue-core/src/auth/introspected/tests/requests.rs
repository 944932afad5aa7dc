//! Selection of the tokens that are introspected (decision O35).

use super::fixture::*;
use crate::auth::{CredentialKind, NewToken, Verdict};

#[test]
fn own_and_signed_token_formats_are_not_introspected() {
    let fixture = Fixture::new();
    let [key, token] = [CredentialKind::ApiKey, CredentialKind::OAuth].map(NewToken::mint);
    for text in [key.expose(), token.expose(), "ccat_mistyped", "cato_", "e30.e30.", "a.b.c", "eyJhbGci.e30.c2ln"] {
        let (verdict, outcomes) = fixture.verdict_and_outcomes(text);
        assert_eq!((verdict.unwrap(), outcomes), (Verdict::Unrecognized, vec![]), "{text}");
    }
    assert!(fixture.issuer.requests().is_empty());
}

#[test]
fn opaque_tokens_are_introspected_verbatim() {
    let fixture = Fixture::new();
    let texts = ["x", "ory_at_a-b.c", "a.b.c.d.e", "a.b.c=", "a.~.c", "CCAT_x", "xccat_x", "AZaz09-._~+/=="];
    for text in texts {
        fixture.accepts(text, "accepted");
    }
    assert_eq!(fixture.issuer.requests(), texts);
}

#[test]
fn overlong_token_is_refused_without_introspection() {
    let fixture = Fixture::new();
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&"x".repeat(8193));
    assert!(matches!(verdict, Ok(Verdict::Refused(_, Some(_)))) && outcomes == ["length"], "{verdict:?} {outcomes:?}");
    assert!(fixture.issuer.requests().is_empty());
    fixture.accepts(&"x".repeat(8192), "accepted");
}
