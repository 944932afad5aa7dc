//! Headers of signed tokens: which are accepted, and which are refused.

use serde_json::{Value, json};

use super::super::{SignatureAlgorithm, TokenType};
use super::fixture::*;

#[test]
fn each_supported_algorithm_is_accepted() {
    let fixture = Fixture::new();
    for signer in [&*ES256, &ES384, &ED25519, &RSA] {
        fixture.accepts(&signer.token(&signer.header(), &claims()));
        let mut without_kid = signer.header();
        without_kid.as_object_mut().unwrap().remove("kid");
        fixture.accepts(&signer.token(&without_kid, &claims()));
    }
    fixture.accepts(&ED25519.token(&patch(ED25519.header(), &json!({ "alg": "Ed25519" })), &claims()));
    fixture.accepts(&pss(&json!({ "alg": "PS256" })));
}

/// Returns a token signed with PS256, with the header of [`RSA`] changed by `other`.
fn pss(other: &Value) -> String {
    let signed = format!("{}.{}", base64(patch(RSA.header(), other).to_string()), base64(claims().to_string()));
    format!("{signed}.{}", base64(RSA.sign("PS256", &signed)))
}

#[test]
fn unsupported_algorithms_are_refused() {
    let fixture = Fixture::new();
    for alg in ["none", "None", "nOnE", "NONE", "", "HS256", "HS384", "HS512", "RS512", "ES512", "es256", "ES256K"] {
        let token = with_header(&json!({ "alg": alg }));
        fixture.refuses(alg, &token, "alg");
        let unsigned = &token[..=token.rfind('.').unwrap()];
        fixture.refuses(alg, unsigned, "alg");
    }
    fixture.refuses("missing", &with_header(&json!({ "alg": null })), "alg");
    for alg in [json!(1), json!(["ES256"]), json!({}), json!(true)] {
        fixture.refuses("a type", &with_header(&json!({ "alg": alg })), "header");
    }
    fixture.refuses("null", &raw_header(r#"{"typ":"at+jwt","alg":null}"#), "alg");
}

/// Returns a token with the text `header` as its header, and valid claims.
fn raw_header(header: &str) -> String {
    ES256.token_of(header, &claims().to_string())
}

#[test]
fn public_key_is_refused_as_hs256_secret() {
    use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};

    let fixture = Fixture::new();
    for signer in [&*RSA, &ES256] {
        let jwk = signer.jwk();
        let number = jwk.get("n").or(jwk.get("x")).unwrap().as_str().unwrap().to_owned();
        let header = json!({ "typ": "at+jwt", "alg": "HS256", "kid": signer.kid });
        for secret in [jwk.to_string(), number] {
            let signed = format!("{}.{}", base64(header.to_string()), base64(claims().to_string()));
            let tag = sign(&Key::new(HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
            fixture.refuses("HS256", &format!("{signed}.{}", base64(tag)), "alg");
        }
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
fn algorithm_must_match_the_key() {
    let fixture = Fixture::new();
    fixture.refuses("RS256, key of ES256", &with_header(&json!({ "alg": "RS256" })), "key");
    fixture.refuses("ES384, key of P-256", &with_header(&json!({ "alg": "ES384" })), "key");
    fixture.refuses("PS256 as RS256", &pss(&json!({})), "signature");
    let pkcs1 = RSA.token(&patch(RSA.header(), &json!({ "alg": "PS256" })), &claims());
    fixture.refuses("RS256 as PS256", &pkcs1, "signature");
    fixture.refuses("another's kid", &with_header(&json!({ "kid": "es384" })), "key");
}

#[test]
fn kid_is_compared_literally() {
    let fixture = Fixture::new();
    let long = "k".repeat(257);
    for kid in ["../../dev/null", "' OR 1=1 --", "\0", "es256\0", "ES256", "es25", "es256 ", "", &long] {
        fixture.refuses(kid, &with_header(&json!({ "kid": kid })), "key");
    }
    for kid in [json!(1), json!(["es256"]), json!({ "es256": 1 })] {
        fixture.refuses("a type", &with_header(&json!({ "kid": kid })), "header");
    }
    for absent in ["null", "[]"] {
        fixture.accepts(&raw_header(&format!(r#"{{"typ":"at+jwt","alg":"ES256","kid":{absent}}}"#)));
    }
    // A `kid` that is too long causes no fetch.
    let fetches = fixture.source.fetches();
    fixture.advance(std::time::Duration::from_secs(11));
    fixture.refuses("long", &with_header(&json!({ "kid": long })), "key");
    assert_eq!(fixture.source.fetches(), fetches);
    fixture.refuses("short", &with_header(&json!({ "kid": "unknown" })), "key");
    assert_eq!(fixture.source.fetches(), fetches + 1);
}

#[test]
fn kid_may_have_256_bytes() {
    let long = "k".repeat(256);
    let set = set([patch(ES256.jwk(), &json!({ "kid": long }))]);
    Fixture::with_behavior(Behavior::Set(set), |builder| builder).accepts(&with_header(&json!({ "kid": long })));
}

#[test]
fn repeated_header_member_is_refused_if_read() {
    let fixture = Fixture::new();
    for twice in [r#""alg":"ES256","#, r#""kid":"es256","#, r#""typ":"at+jwt","#, r#""\u0061lg":"none","#] {
        let header = ES256.header().to_string().replacen('{', &format!("{{{twice}"), 1);
        fixture.refuses(twice, &raw_header(&header), "header");
    }
    let header = ES256.header().to_string().replacen('{', r#"{"cty":1,"cty":2,"#, 1);
    fixture.accepts(&raw_header(&header));
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
        let header = patch(ES256.header(), &embedded);
        fixture.refuses("with a known kid", &OTHER_ES256.token(&header, &claims()), "signature");
        let header = patch(header, &json!({ "kid": "other" }));
        fixture.refuses("with its own kid", &OTHER_ES256.token(&header, &claims()), "key");
        let header = patch(header, &json!({ "kid": null }));
        fixture.refuses("without a kid", &OTHER_ES256.token(&header, &claims()), "signature");
    }
}

#[test]
fn critical_header_is_always_refused() {
    let fixture = Fixture::new();
    for crit in [json!(["exp"]), json!([]), json!(["b64"]), json!("exp"), json!(false), json!({})] {
        fixture.refuses("crit", &with_header(&json!({ "crit": crit, "b64": false })), "crit");
    }
    let header = ES256.header().to_string();
    fixture.refuses("null", &raw_header(&header.replacen('{', r#"{"crit":null,"#, 1)), "crit");
    fixture.refuses("twice", &raw_header(&header.replacen('{', r#"{"crit":1,"crit":1,"#, 1)), "crit");
}

#[test]
fn only_access_token_types_are_accepted() {
    let fixture = Fixture::new();
    for typ in ["JWT", "jwt", "dpop+jwt", "logout+jwt", "id_token", "", "at+jwt ", "application/jwt", "text/at+jwt"] {
        fixture.refuses(typ, &with_header(&json!({ "typ": typ })), "typ");
    }
    fixture.refuses("missing", &with_header(&json!({ "typ": null })), "typ");
    fixture.refuses("a number", &with_header(&json!({ "typ": 1 })), "header");
    for typ in ["at+jwt", "AT+JWT", "At+Jwt", "application/at+jwt", "Application/AT+JWT"] {
        fixture.accepts(&with_header(&json!({ "typ": typ })));
    }
}

#[test]
fn any_type_option_accepts_other_types() {
    let fixture = Fixture::with(|builder| builder.token_type(TokenType::Any));
    for typ in [json!("JWT"), json!("at+jwt"), json!(null)] {
        fixture.accepts(&with_header(&json!({ "typ": typ })));
    }
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
        for (typ, kind) in [("JWT", json!({})), ("JWT", json!({ "typ": "JWT" })), ("JWT", json!({ "typ": ["Bearer"] }))]
        {
            fixture.refuses(claim, &token(typ, &patch(kind, &json!({ claim: "x" }))), "typ");
        }
        fixture.refuses("another type", &token("JWT", &json!({ claim: 1 })), "typ");
        for (typ, kind) in
            [("at+jwt", json!({})), ("application/AT+JWT", json!({})), ("JWT", json!({ "typ": "Bearer" }))]
        {
            fixture.accepts(&token(typ, &patch(kind, &json!({ claim: "x" }))));
        }
    }
    for (claim, kinds) in [
        ("typ", &["ID", "Refresh", "Offline", "Serialized-ID", "Logout"][..]),
        ("token_use", &["id", "id_token", "refresh_token"]),
        ("token_usage", &["refresh_token", "id_token"]),
        ("token_type", &["refresh"]),
    ] {
        for kind in kinds {
            fixture.refuses(kind, &token("JWT", &json!({ claim: kind })), "typ");
        }
    }
    for kind in [
        json!({ "typ": "JWT" }),
        json!({ "token_use": "access" }),
        json!({ "token_usage": "access_token" }),
        json!({ "token_type": "access" }),
        json!({ "token_type": "Bearer" }),
        json!({ "typ": 1, "token_use": {} }),
    ] {
        fixture.accepts(&token("JWT", &kind));
    }
    let strict = Fixture::new();
    strict.accepts(&with_claims(&json!({ "nonce": "x", "typ": "ID", "token_use": "id" })));
}
