//! Claims of signed tokens: which are accepted, and which are refused although the issuer has signed them.

use serde_json::json;

use super::fixture::*;
use crate::auth::signed::TokenType;
use crate::auth::{Authenticator as _, BearerToken, CredentialKind, Scopes};

/// The last second that a time can have, in the year 9999.
const MAX_SECOND: i64 = 253_402_300_799;

/// Returns a signed token with the text `payload`.
fn with_payload(payload: &str) -> String {
    ES256.token_of(&ES256.header().to_string(), payload)
}

/// Returns a token with valid claims after the text `members`.
fn with_members(members: &str) -> String {
    with_payload(&claims().to_string().replacen('{', &format!("{{{members},"), 1))
}

#[test]
fn identity_is_read_from_claims() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let identity = fixture.accepts(&token);
    assert_eq!((identity.account.as_str(), identity.kind), ("acc_1", CredentialKind::OAuth));
    assert_eq!(identity.scopes, Scopes::from_names(["read:profile read:courses"]));
    assert_eq!(*identity.credential_id, *BearerToken::new(&token).unwrap().digest().id("oauth"));
    let issued = identity.issued.unwrap();
    assert_eq!((&*issued.issuer, issued.client.as_deref()), (ISSUER, Some("partner")));
}

#[test]
fn account_is_read_only_from_payload() {
    let fixture = Fixture::with(|builder| builder.account_claim("account"));
    let header = patch(ES256.header(), &json!({ "account": "acc_other", "sub": "acc_other" }));
    let token = ES256.token(&header, &patch(claims(), &json!({ "account": "acc_2" })));
    assert_eq!(fixture.accepts(&token).account.as_str(), "acc_2");
}

#[test]
fn tokens_of_other_issuers_are_not_recognized() {
    let fixture = Fixture::new();
    for iss in
        [json!("https://id.example.com/"), json!("https://ID.example.com"), json!([ISSUER]), json!(null), json!(1)]
    {
        fixture.ignores("iss", &with_claims(&json!({ "iss": iss })), None);
    }
    fixture.ignores("two", &with_members(&format!(r#""iss":"{ISSUER}""#)), None);
    fixture.ignores("two", &with_members(r#""iss":"https://attacker.example""#), None);
    assert_eq!(fixture.source.count(), 0);
    assert_eq!(fixture.tokens.issuer(), ISSUER);
    assert_eq!(fixture.tokens.issuer_and_audience(), Some((ISSUER, AUDIENCE)));
}

/// Null means that the claim is missing. `exp` is checked without leeway, and `nbf` with 30 seconds.
#[test]
fn claims_are_accepted_or_refused_by_value() {
    let fixture = Fixture::new();
    let longest = "é".repeat(100);
    let part = &AUDIENCE[..AUDIENCE.len() - 1];
    for (claim, outcome, values) in [
        ("aud", "audience", json!(["https://other.example.com", null, [], 1, { AUDIENCE: 1 }, "", part, [[AUDIENCE]]])),
        ("aud", "audience", json!([format!("{AUDIENCE}/"), AUDIENCE.to_uppercase(), format!("{AUDIENCE} https://a")])),
        ("aud", "audience", json!([["https://other.example.com", 1]])),
        ("aud", "accepted", json!([AUDIENCE, [AUDIENCE], ["https://other.example.com", AUDIENCE]])),
        ("exp", "expired", json!([NOW, NOW - 1, NOW as f64, 0, 1.5])),
        ("exp", "accepted", json!([NOW + 1, NOW as f64 + 0.25, MAX_SECOND])),
        ("exp", "claim", json!([null, "1900000000", -1, [NOW + 1], true, NOW * 1000, 1e300])),
        ("nbf", "not_before", json!([NOW + 31, NOW as f64 + 30.5, MAX_SECOND])),
        ("nbf", "accepted", json!([NOW + 30, NOW, 0])),
        ("nbf", "claim", json!(["0", -1, [0], 1e300])),
        ("sub", "account", json!(["", longest.clone() + "a", "acc\u{0}1", "acc\n", "acc\u{85}", "partner"])),
        ("sub", "accepted", json!([longest])),
        ("cnf", "bound", json!([{ "jkt": "x" }, { "x5t#S256": "x" }, {}, 1])),
        ("scope", "claim", json!([1, {}, ["read:courses", 1], true])),
    ] {
        fixture.check(claim, outcome, &values, |value| with_claims(&json!({ claim: value })));
    }
    let scp = json!([1, {}, ["read:courses", 1], true]);
    fixture.check("scp", "claim", &scp, |scp| with_claims(&json!({ "scope": null, "scp": scp })));
    // A custom account claim may equal the client's id, and all claims of RFC 9068 are still required.
    let fixture = Fixture::with(|builder| builder.account_claim("account"));
    for (claim, outcome, values) in [
        ("account", "accepted", json!(["acc_1", "partner"])),
        ("account", "account", json!([1, { "id": "acc_1" }, ["acc_1"], true])),
        ("account", "claim", json!([null])),
        ("sub", "claim", json!([null, ["x"], 1])),
        ("client_id", "claim", json!([null, ["x"], 1])),
        ("jti", "claim", json!([null, ["x"], 1])),
        ("iat", "claim", json!([null, ["x"], "1"])),
    ] {
        fixture.check(claim, outcome, &values, |value| {
            let valid = patch(claims(), &json!({ "account": "acc_1" }));
            ES256.token(&ES256.header(), &patch(valid, &json!({ claim: value })))
        });
    }
}

/// JSON has no such numbers, or they are too large.
#[test]
fn unusual_numbers_are_malformed() {
    let fixture = Fixture::new();
    let written_as = |exp: &str| with_payload(&claims().to_string().replace(&(NOW + 300).to_string(), exp));
    for exp in ["NaN", "Infinity", "01", "+1", "0x7fffffff"] {
        fixture.ignores(exp, &written_as(exp), Some("form"));
    }
    for exp in ["1e400", &"9".repeat(400)] {
        fixture.refuses(exp, &written_as(exp), "claim");
    }
}

#[test]
fn repeated_claim_is_refused_if_read() {
    let fixture = Fixture::new();
    let exp = format!(r#""exp":{}"#, NOW + 900);
    for twice in
        [&exp, r#""scope":"read:courses""#, r#""sub":"acc_2""#, r#""client_id":"c""#, r#""jti":"j""#, r#""iat":1"#]
    {
        fixture.refuses(twice, &with_members(twice), "claim");
    }
    fixture.refuses("aud", &with_members(&format!(r#""aud":"{AUDIENCE}""#)), "claim");
    fixture.refuses("escaped", &with_members(r#""\u0065xp":1"#), "claim");
    fixture.refuses("nbf", &with_members(r#""nbf":1,"nbf":1"#), "claim");
    fixture.refuses("cnf", &with_members(r#""cnf":1,"cnf":1"#), "bound");
    fixture.refuses("unreadable cnf", &with_members(r#""cnf":1e999"#), "bound");
    fixture.refuses("scp", &with_payload(&claims().to_string().replace(r#""scope":"#, r#""scp":[],"scp":"#)), "claim");
    fixture.accepts(&with_members(r#""email":"a","email":"b","scp":[],"scp":[]"#));
    let custom = Fixture::with(|builder| builder.account_claim("account"));
    custom.refuses("account", &with_members(r#""account":"acc_1","account":"acc_1""#), "claim");
}

/// Serializers write null and empty lists for absent values.
#[test]
fn null_and_empty_list_count_as_absent() {
    let fixture = Fixture::new();
    for absent in ["null", "[]", "[ ]"] {
        for (claim, outcome) in [("nbf", "claim"), ("cnf", "bound")] {
            fixture.refuses(claim, &with_members(&format!(r#""{claim}":{absent},"{claim}":{absent}"#)), outcome);
            fixture.accepts(&with_members(&format!(r#""{claim}":{absent}"#)));
        }
        let scp = with_payload(&claims().to_string().replace(r#""scope":"#, &format!(r#""scope":{absent},"scp":"#)));
        assert_eq!(fixture.accepts(&scp).scopes, Scopes::from_names(["read:profile read:courses"]));
        for (claim, outcome) in [("exp", "claim"), ("sub", "claim"), ("jti", "claim"), ("aud", "audience")] {
            let other = with_payload(
                &claims().to_string().replace(&format!(r#""{claim}":"#), &format!(r#""{claim}":{absent},"x":"#)),
            );
            fixture.refuses(claim, &other, outcome);
        }
    }
    let any = Fixture::with(|builder| builder.token_type(TokenType::Any));
    let header = patch(ES256.header(), &json!({ "typ": "JWT" })).to_string();
    for absent in ["null", "[]"] {
        let members =
            ["nonce", "at_hash", "c_hash", "azp", "typ", "token_use"].map(|claim| format!(r#""{claim}":{absent}"#));
        let payload = claims().to_string().replacen("{\"", &format!("{{{},\"", members.join(",")), 1);
        let payload = payload.replace(r#""client_id":"partner""#, &format!(r#""client_id":{absent},"cid":"other""#));
        let identity = any.accepts(&ES256.token_of(&header, &payload));
        assert_eq!(identity.issued.unwrap().client.as_deref(), Some("other"), "{absent}");
    }
}

/// Unread members may have unpaired surrogates, unbounded numbers or deeply nested lists, and may occur twice.
#[test]
fn unread_claims_do_not_invalidate_token() {
    let fixture = Fixture::new();
    let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for unread in [r#""Anna \ud83d""#, r#""\udc00""#, "1e999", "-1e999", &"9".repeat(400), &nested] {
        let members = format!(r#""name":{unread},"name":{unread}"#);
        fixture.accepts(&with_members(&members));
        let header = ES256.header().to_string().replacen('{', &format!("{{{members},"), 1);
        fixture.accepts(&ES256.token_of(&header, &claims().to_string()));
        for read in ["nbf", "scope"] {
            let payload = claims().to_string().replace(r#""scope":"#, r#""unread":"#);
            let payload = payload.replacen('{', &format!(r#"{{"{read}":{unread},"#), 1);
            fixture.refuses(read, &with_payload(&payload), "claim");
        }
    }
    fixture.accepts(&with_members(r#""name \ud83d":1,"\udc00":2"#));
    for (name, broken) in
        [("control", "\"a\nb\":1"), ("comma", r#""a":1,"#), ("NaN", r#""a":NaN"#), ("escape", r#""a":"\x""#)]
    {
        fixture.ignores(name, &with_members(broken), Some("form"));
    }
}

#[test]
fn only_scopes_of_this_api_are_granted() {
    let fixture = Fixture::new();
    let scopes = |fixture: &Fixture, other| fixture.accepts(&with_claims(&other)).scopes.to_string();
    for (other, expected) in [
        (json!({ "scope": "openid read:courses email" }), "read:courses"),
        (json!({ "scope": ["read:profile", "openid", "read:courses openid"] }), "read:profile"),
        (json!({ "scope": "" }), ""),
        (json!({ "scope": [] }), ""),
        (json!({ "scope": null }), ""),
        (json!({ "scope": "READ:COURSES read:course\tread:courses" }), ""),
        (json!({ "scope": null, "scp": "read:courses" }), "read:courses"),
        (json!({ "scope": null, "scp": ["read:profile", "read:courses"] }), "read:profile read:courses"),
        (json!({ "scope": "read:profile", "scp": ["read:courses"] }), "read:profile"),
    ] {
        assert_eq!(scopes(&fixture, other.clone()), expected, "{other}");
    }
    let prefixed = Fixture::with(|builder| builder.scope_prefix("catalogue:"));
    let scope = "catalogue:read:courses read:profile other:read:profile catalogue:read:everything";
    assert_eq!(scopes(&prefixed, json!({ "scope": scope })), "read:courses");
}

/// Other problems are reported before an expiry: a caller that gets `expired` may expect that a fresh token works.
#[test]
fn expiry_is_checked_last() {
    let fixture = Fixture::new();
    for (other, outcome) in [
        (json!({ "aud": "other" }), "audience"),
        (json!({ "cnf": {} }), "bound"),
        (json!({ "jti": null }), "claim"),
        (json!({ "sub": "" }), "account"),
        (json!({ "nbf": NOW + 31 }), "not_before"),
        (json!({ "scope": 1 }), "claim"),
    ] {
        fixture.refuses(outcome, &with_claims(&patch(other, &json!({ "exp": NOW }))), outcome);
    }
}

/// Okta, Keycloak and Entra ID use other claims for the client.
#[test]
fn other_client_claims_are_read_with_any_type() {
    let fixture = Fixture::with(|builder| builder.token_type(TokenType::Any));
    let clients = json!({ "client_id": "a", "azp": "b", "cid": "c", "appid": "d" });
    let mut others = clients.clone();
    for (name, client) in [("client_id", "a"), ("azp", "b"), ("cid", "c"), ("appid", "d")] {
        let issued = fixture.accepts(&with_claims(&others)).issued.unwrap();
        assert_eq!(issued.client.as_deref(), Some(client));
        fixture.refuses(name, &with_claims(&patch(others.clone(), &json!({ "sub": client }))), "account");
        fixture.refuses(name, &with_claims(&patch(others.clone(), &json!({ name: 1 }))), "claim");
        others[name] = json!(null);
    }
    // All tokens without a client share one rate limit; the client `""` has a separate one.
    let [first, second] =
        ["j1", "j2"].map(|jti| fixture.accepts(&with_claims(&patch(others.clone(), &json!({ "jti": jti })))));
    assert_ne!(first.credential_id, second.credential_id);
    assert_eq!(first.rate_limit_subject(), second.rate_limit_subject());
    others["client_id"] = json!("");
    assert_ne!(fixture.accepts(&with_claims(&others)).rate_limit_subject(), first.rate_limit_subject());
}
