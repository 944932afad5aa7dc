//! Headers of signed tokens: which are accepted, and which are refused.

use serde_json::{Value, json};

use super::super::{SignatureAlgorithm, TokenType};
use super::fixture::*;

/// Returns a token signed with PS256, with the header of [`RSA`] changed by `other`.
fn pss(other: &Value) -> String {
    let signed = format!("{}.{}", base64(patch(RSA.header(), other).to_string()), base64(claims().to_string()));
    format!("{signed}.{}", base64(RSA.sign("PS256", &signed)))
}

/// Returns a token with the text `header` as its header, and valid claims.
fn raw_header(header: &str) -> String {
    ES256.token_of(header, &claims().to_string())
}

/// Returns a token with valid claims and a valid header, before whose members it has `members`.
fn with_members(members: &str) -> String {
    raw_header(&ES256.header().to_string().replacen('{', &format!("{{{members},"), 1))
}

#[test]
fn each_supported_algorithm_is_accepted_by_its_name() {
    let fixture = Fixture::new();
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        fixture.accepts(&signer.token(&signer.header(), &claims()));
        fixture.accepts(&signer.token(&patch(signer.header(), &json!({ "kid": null })), &claims()));
    }
    fixture.accepts(&ED25519.token(&patch(ED25519.header(), &json!({ "alg": "Ed25519" })), &claims()));
    fixture.accepts(&pss(&json!({ "alg": "PS256" })));
    fixture.refuses("PS256 as RS256", &pss(&json!({})), "signature");
    let pkcs1 = RSA.token(&patch(RSA.header(), &json!({ "alg": "PS256" })), &claims());
    fixture.refuses("RS256 as PS256", &pkcs1, "signature");
}

/// Null means that the member is missing. With HS256, everybody could sign with the public key as the secret.
#[test]
fn header_members_are_checked_before_keys() {
    let fixture = Fixture::new();
    let (long, longest) = ("k".repeat(257), "k".repeat(256));
    for (member, outcome, values) in [
        ("alg", "alg", json!([null, "none", "None", "nOnE", "NONE", "", "HS256", "HS384", "HS512", "RS512", "ES512"])),
        ("alg", "alg", json!(["es256", "ES256K"])),
        ("alg", "header", json!([1, ["ES256"], {}, true])),
        ("typ", "typ", json!([null, "JWT", "jwt", "dpop+jwt", "logout+jwt", "id_token", "", "at+jwt ", "text/at+jwt"])),
        ("typ", "typ", json!(["application/jwt"])),
        ("typ", "header", json!([1])),
        ("crit", "crit", json!([["exp"], [], ["b64"], "exp", false, {}])),
        ("kid", "header", json!([1, ["es256"], { "es256": 1 }])),
        ("kid", "key", json!([long])),
    ] {
        fixture.check(member, outcome, &values, |value| with_header(&json!({ "b64": false, member: value })));
    }
    for (members, outcome) in [
        (r#""alg":"ES256""#, "header"),
        (r#""kid":"es256""#, "header"),
        (r#""typ":"at+jwt""#, "header"),
        (r#""\u0061lg":"none""#, "header"),
        (r#""crit":null"#, "crit"),
        (r#""crit":1,"crit":1"#, "crit"),
    ] {
        fixture.refuses(members, &with_members(members), outcome);
    }
    fixture.refuses("null", &raw_header(r#"{"typ":"at+jwt","alg":null}"#), "alg");
    assert_eq!(fixture.source.count(), 0);
    for (member, outcome, values) in [
        ("alg", "key", json!(["RS256", "ES384"])),
        ("typ", "accepted", json!(["at+jwt", "AT+JWT", "At+Jwt", "application/at+jwt", "Application/AT+JWT"])),
        ("kid", "key", json!(["../../dev/null", "' OR 1=1 --", "\0", "es256\0", "ES256", "es25", "es256 ", ""])),
        ("kid", "key", json!(["es384", longest])),
    ] {
        fixture.check(member, outcome, &values, |value| with_header(&json!({ member: value })));
    }
    let set = set([patch(ES256.jwk(), &json!({ "kid": longest }))]);
    Fixture::with_set(set).accepts(&with_header(&json!({ "kid": longest })));
    fixture.accepts(&with_members(r#""cty":1,"cty":2"#));
    for absent in ["null", "[]"] {
        fixture.accepts(&raw_header(&format!(r#"{{"typ":"at+jwt","alg":"ES256","kid":{absent}}}"#)));
    }
}

#[test]
fn unsigned_token_is_refused() {
    let fixture = Fixture::new();
    for alg in ["none", "None", "", "ES256K"] {
        let token = with_header(&json!({ "alg": alg }));
        fixture.refuses(alg, &token[..=token.rfind('.').unwrap()], "alg");
    }
}

#[test]
fn algorithms_option_restricts_accepted_algorithms() {
    let fixture = Fixture::with(|builder| builder.algorithms([SignatureAlgorithm::Rs256]));
    fixture.accepts(&RSA.token(&RSA.header(), &claims()));
    fixture.refuses("ES256", &with_header(&json!({})), "alg");
    fixture.refuses("PS256", &pss(&json!({ "alg": "PS256" })), "alg");
}

#[test]
fn keys_embedded_in_token_are_ignored() {
    let fixture = Fixture::new();
    let attackers = OTHER_ES256.jwk();
    for embedded in [
        json!({ "jwk": attackers }),
        json!({ "jku": "https://attacker.example/keys" }),
        json!({ "x5u": "https://attacker.example/chain" }),
        json!({ "x5c": ["MIIB"] }),
        json!({ "x5t": "AAAA", "zip": "DEF" }),
    ] {
        for (kid, outcome) in [(json!("es256"), "signature"), (json!("other"), "key"), (json!(null), "signature")] {
            let header = patch(patch(ES256.header(), &embedded), &json!({ "kid": kid }));
            fixture.refuses(outcome, &OTHER_ES256.token(&header, &claims()), outcome);
        }
    }
}

#[test]
fn any_type_option_accepts_other_types() {
    let fixture = Fixture::with(|builder| builder.token_type(TokenType::Any));
    fixture.check("typ", "accepted", &json!(["JWT", "at+jwt", null]), |typ| with_header(&json!({ "typ": typ })));
    let fewer = json!({ "client_id": null, "iat": null, "jti": null });
    assert_eq!(fixture.accepts(&with_claims(&fewer)).issued.unwrap().client, None);
}

/// `nonce`, `at_hash` and `c_hash` mark an ID token, unless the token declares its type as RFC 9068 or Keycloak does.
/// Keycloak before 25 put the nonce of the sign-in into access tokens too.
#[test]
fn any_type_option_refuses_id_tokens_by_claims() {
    let fixture = Fixture::with(|builder| builder.token_type(TokenType::Any));
    let token =
        |typ: &str, other: &Value| ES256.token(&patch(ES256.header(), &json!({ "typ": typ })), &patch(claims(), other));
    for claim in ["nonce", "at_hash", "c_hash"] {
        for (typ, kind, value, outcome) in [
            ("JWT", json!(null), json!("x"), "typ"),
            ("JWT", json!("JWT"), json!("x"), "typ"),
            ("JWT", json!(["Bearer"]), json!("x"), "typ"),
            ("JWT", json!(null), json!(1), "typ"),
            ("at+jwt", json!(null), json!("x"), "accepted"),
            ("application/AT+JWT", json!(null), json!("x"), "accepted"),
            ("JWT", json!("Bearer"), json!("x"), "accepted"),
        ] {
            fixture.check(claim, outcome, &json!([value]), |value| token(typ, &json!({ "typ": kind, claim: value })));
        }
    }
    for (claim, outcome, kinds) in [
        ("typ", "typ", json!(["ID", "Refresh", "Offline", "Serialized-ID", "Logout"])),
        ("token_use", "typ", json!(["id", "id_token", "refresh_token"])),
        ("token_usage", "typ", json!(["refresh_token", "id_token"])),
        ("token_type", "typ", json!(["refresh"])),
        ("typ", "accepted", json!(["JWT", 1])),
        ("token_use", "accepted", json!(["access", {}])),
        ("token_usage", "accepted", json!(["access_token"])),
        ("token_type", "accepted", json!(["access", "Bearer"])),
    ] {
        fixture.check(claim, outcome, &kinds, |kind| token("JWT", &json!({ claim: kind })));
    }
    Fixture::new().accepts(&with_claims(&json!({ "nonce": "x", "typ": "ID", "token_use": "id" })));
}
