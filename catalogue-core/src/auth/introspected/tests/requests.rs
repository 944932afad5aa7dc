//! Which tokens are introspected (decision O35).

use super::fixture::*;
use crate::auth::{CredentialKind, NewToken, Verdict};

#[test]
fn what_others_know_is_left_to_them() {
    let fixture = Fixture::new();
    let [key, token] = [CredentialKind::ApiKey, CredentialKind::OAuth].map(NewToken::mint);
    for text in [key.expose(), token.expose(), "ccat_mistyped", "cato_", "e30.e30.", "a.b.c", "eyJhbGci.e30.c2ln"] {
        let (verdict, outcomes) = fixture.verdict_and_outcomes(text);
        assert_eq!((verdict.unwrap(), outcomes), (Verdict::Unrecognized, vec![]), "{text}");
    }
    assert!(fixture.issuer.requests().is_empty());
}

#[test]
fn about_all_else_it_is_asked_in_the_tokens_own_words() {
    let fixture = Fixture::new();
    let texts = ["x", "ory_at_a-b.c", "a.b.c.d.e", "a.b.c=", "a.~.c", "CCAT_x", "xccat_x", "AZaz09-._~+/=="];
    for text in texts {
        fixture.accepts(text, "accepted");
    }
    assert_eq!(fixture.issuer.requests(), texts);
}

#[test]
fn a_text_that_is_too_long_is_sent_nowhere() {
    let fixture = Fixture::new();
    let (verdict, outcomes) = fixture.verdict_and_outcomes(&"x".repeat(8193));
    assert!(matches!(verdict, Ok(Verdict::Refused(_, Some(_)))) && outcomes == ["length"], "{verdict:?} {outcomes:?}");
    assert!(fixture.issuer.requests().is_empty());
    fixture.accepts(&"x".repeat(8192), "accepted");
}
