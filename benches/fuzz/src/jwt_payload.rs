//! The claims of a signed token (decisions O9, O10 and O14 to O20): any text, in a token with a valid signature. The first
//! byte of an input selects the rules for the token.

use std::sync::LazyLock;

use catalogue_core::auth::signed::{SignedTokens, TokenType};
use catalogue_core::auth::{CredentialKind, Identity, Scope, Verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::signers::{AUDIENCE, ISSUER, token, tokens, verdict, verify_with_jsonwebtoken};

/// Authenticators by the byte that selects them: default rules, other names, any type.
static TOKENS: LazyLock<[(u8, SignedTokens); 3]> = LazyLock::new(|| {
    [
        (b'0', tokens(|builder| builder)),
        (b'1', tokens(|builder| builder.account_claim("account").scope_prefix("cat:"))),
        (b'2', tokens(|builder| builder.token_type(TokenType::Any))),
    ]
});

pub(super) fn check(input: &[u8]) {
    let [rules, payload @ ..] = input else { return };
    let Some((rules, tokens)) = TOKENS.iter().find(|(byte, _)| byte == rules) else { return };
    let typ = if *rules == b'2' { "JWT" } else { "at+jwt" };
    let text = token(format!(r#"{{"alg":"EdDSA","typ":"{typ}","kid":"ed"}}"#).as_bytes(), payload, "EdDSA");
    let found = verdict(tokens, &text);
    let Verdict::Accepted(identity) = &found else { return };
    assert_eq!(verdict(tokens, &text), found);
    assert!(text.len() <= 8192);
    let id: String = Sha256::digest(&text)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((&*identity.credential_id, identity.kind), (&*format!("oauth:{id}"), CredentialKind::OAuth));
    // serde_json may reject members that the catalogue ignores.
    if serde_json::from_slice::<Value>(payload).is_ok() {
        let claims = verify_with_jsonwebtoken(&text, "EdDSA").unwrap_or_else(|error| panic!("{error} {text}"));
        check_claims(*rules, &claims, identity);
    }
}

/// Asserts that an accepted token's identity matches the claims, and has only scopes that they grant.
fn check_claims(rules: u8, claims: &Value, identity: &Identity) {
    let issued = identity.issued.as_ref().expect("a signed token has an issuer");
    assert_eq!(&*issued.issuer, ISSUER);
    let audience = &claims["aud"];
    assert!(audience == AUDIENCE || audience.as_array().is_some_and(|all| all.iter().any(|one| one == AUDIENCE)));
    let account = &claims[if rules == b'1' { "account" } else { "sub" }];
    assert_eq!(account, identity.account.as_str(), "{claims}");
    assert!(rules == b'1' || issued.client.as_deref() != Some(identity.account.as_str()), "{claims}");
    let is_none = |claim: &Value| claim.is_null() || *claim == Value::Array(Vec::new());
    assert!(is_none(&claims["cnf"]), "{claims}");
    let granted = if is_none(&claims["scope"]) { &claims["scp"] } else { &claims["scope"] };
    for scope in identity.scopes.iter().map(Scope::name) {
        let name = if rules == b'1' { format!("cat:{scope}") } else { scope.to_owned() };
        let is_granted = match granted {
            Value::String(names) => names.split(' ').any(|granted| granted == name),
            names => names.as_array().is_some_and(|names| names.iter().any(|granted| *granted == name)),
        };
        assert!(is_granted, "{scope} {claims}");
    }
}
