//! Introspection responses (decision O36).

use serde_json::json;

use super::fixture::*;
use crate::auth::{BearerToken, CredentialKind, Scopes};

const CLAIM: &str = "A claim of the token is missing, repeated or invalid.";
const ACCOUNT: &str = "The token does not name an account.";

#[test]
fn active_token_identifies_account_scopes_and_client() {
    let fixture = Fixture::accepting();
    let identity = fixture.accepts_as("accepted", "opaque");
    assert_eq!((identity.account.as_str(), identity.kind), ("acc_1", CredentialKind::OAuth));
    assert_eq!(identity.scopes, Scopes::from_names(["read:courses"]));
    assert_eq!(*identity.credential_id, *BearerToken::new("opaque").unwrap().digest().id("oauth"));
    assert_ne!(identity.rate_limit_subject(), &*identity.credential_id, "the limit is by client");
    let issued = identity.issued.unwrap();
    assert_eq!((&*issued.issuer, issued.client.as_deref()), (ISSUER, Some("partner")));
    // RFC 7662 requires only `active`. The catalogue also requires `aud`, `sub` and `exp`, and no other claim.
    let identity =
        fixture.accepts_response(&json!({ "active": true, "aud": AUDIENCE, "sub": "acc_1", "exp": NOW + 1 }));
    assert!(identity.scopes.is_empty() && identity.issued.unwrap().client.is_none());
}

#[test]
fn inactive_token_is_invalid_despite_valid_claims() {
    let fixture = Fixture::accepting();
    fixture.refuses_response(INACTIVE, "inactive", "");
    fixture.refuses_response(&response_with(&json!({ "active": false })), "inactive", "");
}

#[test]
fn token_of_another_issuer_is_invalid() {
    let fixture = Fixture::accepting();
    for iss in [json!("https://id.example.com/"), json!("https://ID.example.com"), json!([ISSUER]), json!(1), json!("")]
    {
        fixture.refuses_response(&response_with(&json!({ "iss": iss })), "issuer", "");
    }
    for absent in ["null", "[]"] {
        let response = valid_response().to_string().replace(r#""iss":"#, &format!(r#""iss":{absent},"other":"#));
        fixture.accepts_response(&response);
    }
    fixture.refuses_response(&response_after(&format!(r#""iss":"{ISSUER}""#)), "claim", CLAIM);
}

/// The tests of signed tokens have all cases.
#[test]
fn claims_are_checked_as_in_signed_tokens() {
    let fixture = Fixture::accepting();
    for (other, outcome, description) in [
        (json!({ "aud": ["https://other.example.com"] }), "audience", "The token is for another audience."),
        (json!({ "exp": "1900000000" }), "claim", CLAIM),
        (json!({ "exp": NOW }), "expired", "The token has expired."),
        (json!({ "nbf": NOW + 31 }), "not_before", "The token is not valid yet."),
        (json!({ "cnf": { "jkt": "x" } }), "bound", "Sender-constrained tokens (cnf) are not supported."),
        (json!({ "sub": "partner" }), "account", ACCOUNT),
        (json!({ "nonce": "n" }), "typ", ""),
    ] {
        fixture.refuses_response(&response_with(&other), outcome, description);
    }
    // Members that are not read may have any value.
    for unread in [r#""Anna \ud83d""#, "1e999"] {
        fixture.accepts_response(&response_after(&format!(r#""username":{unread}"#)));
        fixture.refuses_response(&response_after(&format!(r#""nbf":{unread}"#)), "claim", CLAIM);
    }
    let fixture =
        Fixture::with_tokens(|builder| builder.account_claim("account").scope_prefix("catalogue:"), |tokens| tokens);
    let other = json!({ "account": "acc_2", "scope": null, "scp": ["catalogue:read:profile", "read:courses"] });
    let identity = fixture.accepts_response(&response_with(&other));
    assert_eq!((identity.account.as_str(), identity.scopes.to_string()), ("acc_2", "read:profile".to_owned()));
    fixture.refuses_response(&valid_response(), "claim", CLAIM);
}

/// Issuers introspect refresh tokens too, even if the request names access tokens. Some return the token's kind.
#[test]
fn only_access_tokens_are_accepted() {
    let fixture = Fixture::accepting();
    for other in [
        json!({ "token_use": "refresh_token" }),
        json!({ "token_use": "id_token" }),
        json!({ "token_use": "" }),
        json!({ "token_use": ["access_token"] }),
        json!({ "token_usage": "refresh_token" }),
        json!({ "token_type": "refresh_token" }),
        json!({ "token_type": "DPoP" }),
        json!({ "token_type": "N_A" }),
        json!({ "token_type": 1 }),
        json!({ "typ": "ID", "nonce": "n" }),
        json!({ "typ": "Refresh", "token_type": "Bearer", "token_use": "access_token" }),
    ] {
        fixture.refuses_response(&response_with(&other), "typ", "");
    }
    for other in [
        json!({ "token_type": null }),
        json!({ "token_type": "bearer" }),
        json!({ "token_type": "BEARER", "token_use": "access_token" }),
        json!({ "token_use": "access" }),
        json!({ "token_usage": "access_token" }),
        // An access token of Keycloak, with the nonce of the sign-in.
        json!({ "typ": "Bearer", "token_type": "Bearer", "nonce": "n" }),
        json!({ "typ": "JWT" }),
    ] {
        fixture.accepts_response(&response_with(&other));
    }
    fixture.accepts_response(&response_after(r#""token_use":null,"typ":[],"nonce":null,"at_hash":[]"#));
}

/// A response that cannot be understood is an error, not a refusal (decision A19).
#[test]
fn malformed_introspection_response_is_error_not_refusal() {
    let fixture = Fixture::accepting();
    for (responses, why) in [
        (&["", "active", "[true]", "null", "{\"active\":false", "<html>", "\u{feff}{}"][..], "not a JSON object"),
        (
            &[r#"{"sub":"acc_1"}"#, r#"{"active":"true"}"#, r#"{"active":1}"#, r#"{"active":true,"active":false}"#],
            "no boolean `active`",
        ),
    ] {
        for response in responses {
            fixture.fails(Behavior::Responds((*response).into()), why);
        }
    }
    fixture.fails(Behavior::Fails, "unreachable");
    fixture.fails(Behavior::Panics, "as instructed");
    fixture.accepts_response(&valid_response());
}
