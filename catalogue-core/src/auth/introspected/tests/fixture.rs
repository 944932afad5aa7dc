//! Test fixture: an authenticator of opaque tokens, with the scripted issuer and the clocks of the tests of signed tokens.

use serde_json::{Value, json};

use crate::auth::introspected::IntrospectedTokens;
use crate::auth::signed::SignedTokensBuilder;
use crate::auth::signed::tests::fixture;
pub(super) use crate::auth::signed::tests::fixture::{AUDIENCE, Behavior, ISSUER, NOW, SECOND, patch, poll, ready};
use crate::auth::{Identity, Refusal, Verdict};
use crate::storage::StorageErrorKind;

pub(super) const INACTIVE: &str = r#"{"active":false}"#;

pub(super) type Fixture = fixture::Fixture<IntrospectedTokens>;

impl Fixture {
    /// Creates a fixture whose issuer accepts every token.
    pub(super) fn accepting() -> Self {
        Self::with_tokens(|builder| builder, |tokens| tokens)
    }

    pub(super) fn with_tokens(
        rules: impl FnOnce(SignedTokensBuilder) -> SignedTokensBuilder,
        settings: impl FnOnce(IntrospectedTokens) -> IntrospectedTokens,
    ) -> Self {
        let behavior = Behavior::Responds(valid_response().to_string().into());
        Self::build(behavior, rules, |signed, source| settings(IntrospectedTokens::of(&signed, source)))
    }

    /// Returns the identity of a token for which the issuer responds with `response`.
    #[track_caller]
    pub(super) fn accepts_response(&self, response: &(impl ToString + ?Sized)) -> Identity {
        self.source.set_response(response.to_string());
        self.accepts_as("accepted", "opaque")
    }

    /// Checks that a token is refused if the issuer responds with `response`. An empty `description` means none.
    #[track_caller]
    pub(super) fn refuses_response(&self, response: &(impl ToString + ?Sized), outcome: &str, description: &str) {
        let response = response.to_string();
        self.source.set_response(response.clone());
        let (verdict, outcomes) = self.verdict_and_outcomes("opaque");
        let Ok(Verdict::Refused(refusal, Some(explanation))) = verdict else { panic!("{response}: {verdict:?}") };
        assert_eq!((refusal, explanation.code, &*outcomes), (Refusal::Invalid, outcome, &[outcome][..]), "{response}");
        assert_eq!(explanation.description.unwrap_or_default(), description, "{response}");
    }

    /// Checks that authentication fails, with `why` among the causes.
    #[track_caller]
    pub(super) fn fails(&self, behavior: Behavior, why: &str) {
        self.source.set_behavior(behavior);
        let (verdict, outcomes) = self.verdict_and_outcomes("opaque");
        let error = verdict.unwrap_err();
        assert_eq!((error.kind(), &*outcomes), (StorageErrorKind::Unavailable, &["unavailable"][..]));
        let chain = crate::chain::chain(&error);
        assert!(chain.contains(why) && !chain.contains("opaque"), "{chain}");
    }
}

/// Returns the introspection response for a valid token.
pub(super) fn valid_response() -> Value {
    json!({
        "active": true, "iss": ISSUER, "aud": AUDIENCE, "sub": "acc_1", "client_id": "partner",
        "exp": NOW + 300, "scope": "read:courses openid", "token_type": "Bearer",
    })
}

/// Returns the response for a valid token, with the members of `other`; null removes a member.
pub(super) fn response_with(other: &Value) -> Value {
    patch(valid_response(), other)
}

/// Returns the response for a valid token, after the text `members`.
pub(super) fn response_after(members: &str) -> String {
    valid_response().to_string().replacen('{', &format!("{{{members},"), 1)
}
