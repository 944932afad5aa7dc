//! Claims: which are accepted, and which are refused although the issuer has signed them.

use serde_json::json;

use super::fixture::*;
use crate::auth::signed::TokenType;
use crate::auth::{CredentialKind, Scopes};

/// Returns a signed token with this payload.
fn raw(payload: &str) -> String {
    ES256.token_of(&ES256.header().to_string(), payload)
}

/// Returns a token with valid claims and the further members `members`.
fn with_text(members: &str) -> String {
    raw(&claims().to_string().replacen('{', &format!("{{{members},"), 1))
}

#[test]
fn a_token_is_who_it_says() {
    let fixture = Fixture::new();
    let token = with_claims(&json!({}));
    let identity = fixture.accepted(&token);
    assert_eq!((identity.account.as_str(), identity.kind), ("acc_1", CredentialKind::OAuth));
    assert_eq!(identity.scopes, Scopes::from_names(["read:profile read:courses"]));
    let digest = crate::auth::BearerToken::new(&token).unwrap().digest();
    assert_eq!(*identity.credential_id, *digest.id("oauth"));
    let issued = identity.issued.unwrap();
    assert_eq!((&*issued.issuer, issued.client.as_deref()), (ISSUER, Some("partner")));
}

/// An account in the header is not read.
#[test]
fn the_account_is_in_the_payload() {
    let fixture = Fixture::with(|builder| builder.account_claim("account"));
    let header = but(ES256.header(), &json!({ "account": "acc_other", "sub": "acc_other" }));
    let token = ES256.token(&header, &but(claims(), &json!({ "account": "acc_2" })));
    assert_eq!(fixture.accepted(&token).account.as_str(), "acc_2");
    fixture.refuses("missing", &with_claims(&json!({})), "claim");
    // A custom account claim may equal the client's id.
    fixture.accepted(&with_claims(&json!({ "account": "partner" })));
}

#[test]
fn tokens_of_other_issuers_are_left_to_others() {
    let fixture = Fixture::new();
    for iss in
        [json!("https://id.example.com/"), json!("https://ID.example.com"), json!([ISSUER]), json!(null), json!(1)]
    {
        fixture.leaves("iss", &with_claims(&json!({ "iss": iss })), None);
    }
    fixture.leaves("two", &with_text(&format!(r#""iss":"{ISSUER}""#)), None);
    fixture.leaves("two", &with_text(r#""iss":"https://attacker.example""#), None);
    assert_eq!(fixture.source.fetches(), 0);
}

#[test]
fn the_audience_must_be_this_api() {
    let fixture = Fixture::new();
    for aud in [
        json!("https://other.example.com"),
        json!(null),
        json!([]),
        json!(1),
        json!({ AUDIENCE: 1 }),
        json!(""),
        json!(format!("{AUDIENCE}/")),
        json!(&AUDIENCE[..AUDIENCE.len() - 1]),
        json!(AUDIENCE.to_uppercase()),
        json!(["https://other.example.com", 1]),
        json!([[AUDIENCE]]),
        json!(format!("{AUDIENCE} https://other.example.com")),
    ] {
        fixture.refuses(&aud.to_string(), &with_claims(&json!({ "aud": aud })), "audience");
    }
    for aud in [json!(AUDIENCE), json!([AUDIENCE]), json!(["https://other.example.com", AUDIENCE])] {
        fixture.accepted(&with_claims(&json!({ "aud": aud })));
    }
}

#[test]
fn a_token_ends_at_its_expiry_without_leeway() {
    let fixture = Fixture::new();
    for exp in [json!(NOW), json!(NOW - 1), json!(NOW as f64), json!(0), json!(1.5)] {
        fixture.refuses(&exp.to_string(), &with_claims(&json!({ "exp": exp })), "expired");
    }
    for exp in [json!(NOW + 1), json!(NOW as f64 + 0.25), json!(253_402_300_799_i64)] {
        fixture.accepted(&with_claims(&json!({ "exp": exp })));
    }
    for exp in
        [json!(null), json!("1900000000"), json!(-1), json!([NOW + 1]), json!(true), json!(NOW * 1000), json!(1e300)]
    {
        fixture.refuses(&exp.to_string(), &with_claims(&json!({ "exp": exp })), "claim");
    }
    let written_as = |exp: &str| raw(&claims().to_string().replace(&(NOW + 300).to_string(), exp));
    for exp in ["NaN", "Infinity", "01", "+1", "0x7fffffff"] {
        fixture.leaves(exp, &written_as(exp), Some("form"));
    }
    for exp in ["1e400", &"9".repeat(400)] {
        fixture.refuses(exp, &written_as(exp), "claim");
    }
}

#[test]
fn a_token_may_begin_half_a_minute_ahead() {
    let fixture = Fixture::new();
    for nbf in [json!(NOW + 31), json!(NOW as f64 + 30.5), json!(253_402_300_799_i64)] {
        fixture.refuses(&nbf.to_string(), &with_claims(&json!({ "nbf": nbf })), "not_before");
    }
    for nbf in [json!(NOW + 30), json!(NOW), json!(0)] {
        fixture.accepted(&with_claims(&json!({ "nbf": nbf })));
    }
    for nbf in [json!("0"), json!(-1), json!([0]), json!(1e300)] {
        fixture.refuses(&nbf.to_string(), &with_claims(&json!({ "nbf": nbf })), "claim");
    }
}

#[test]
fn what_an_access_token_must_have_is_there() {
    let fixture = Fixture::with(|builder| builder.account_claim("account"));
    let valid = but(claims(), &json!({ "account": "acc_1" }));
    let with = |other: &_| ES256.token(&ES256.header(), &but(valid.clone(), other));
    fixture.accepted(&with(&json!({})));
    for claim in ["sub", "client_id", "iat", "jti"] {
        fixture.refuses(claim, &with(&json!({ claim: null })), "claim");
        fixture.refuses(claim, &with(&json!({ claim: ["x"] })), "claim");
    }
    for (claim, value) in [("sub", json!(1)), ("client_id", json!(1)), ("jti", json!(1)), ("iat", json!("1"))] {
        fixture.refuses(claim, &with(&json!({ claim: value })), "claim");
    }
}

#[test]
fn the_account_is_a_text_that_can_be_an_id() {
    let fixture = Fixture::new();
    let (long, longest) = ("é".repeat(100) + "a", "é".repeat(100));
    for sub in [json!(""), json!(long), json!("acc\u{0}1"), json!("acc\n"), json!("acc\u{85}")] {
        fixture.refuses(&sub.to_string(), &with_claims(&json!({ "sub": sub })), "account");
    }
    assert_eq!(fixture.accepted(&with_claims(&json!({ "sub": longest }))).account.as_str(), longest);
    fixture.refuses("the client itself", &with_claims(&json!({ "sub": "partner" })), "account");
    let fixture = Fixture::with(|builder| builder.account_claim("account"));
    for account in [json!(1), json!({ "id": "acc_1" }), json!(["acc_1"]), json!(true)] {
        fixture.refuses(&account.to_string(), &with_claims(&json!({ "account": account })), "account");
    }
}

#[test]
fn claims_that_are_read_come_once() {
    let fixture = Fixture::new();
    let exp = format!(r#""exp":{}"#, NOW + 900);
    for twice in
        [&exp, r#""scope":"read:courses""#, r#""sub":"acc_2""#, r#""client_id":"c""#, r#""jti":"j""#, r#""iat":1"#]
    {
        fixture.refuses(twice, &with_text(twice), "claim");
    }
    fixture.refuses("aud", &with_text(&format!(r#""aud":"{AUDIENCE}""#)), "claim");
    fixture.refuses("escaped", &with_text(r#""\u0065xp":1"#), "claim");
    fixture.refuses("nbf", &with_text(r#""nbf":1,"nbf":1"#), "claim");
    fixture.refuses("scp", &raw(&claims().to_string().replace(r#""scope":"#, r#""scp":[],"scp":"#)), "claim");
    fixture.accepted(&with_text(r#""email":"a","email":"b","scp":[],"scp":[]"#));
    let own = Fixture::with(|builder| builder.account_claim("account"));
    own.refuses("account", &with_text(r#""account":"acc_1","account":"acc_1""#), "claim");
}

#[test]
fn a_token_that_is_bound_to_its_sender_is_refused() {
    let fixture = Fixture::new();
    for cnf in [json!({ "jkt": "x" }), json!({ "x5t#S256": "x" }), json!({}), json!(1)] {
        fixture.refuses(&cnf.to_string(), &with_claims(&json!({ "cnf": cnf })), "bound");
    }
    fixture.refuses("unreadable", &with_text(r#""cnf":1e999"#), "bound");
    fixture.refuses("twice", &with_text(r#""cnf":1,"cnf":1"#), "bound");
}

/// Serializers write null and empty lists for absent values.
#[test]
fn null_and_empty_list_count_as_absent() {
    let fixture = Fixture::new();
    for nothing in ["null", "[]", "[ ]"] {
        for (claim, twice) in [("nbf", "claim"), ("cnf", "bound")] {
            fixture.refuses(claim, &with_text(&format!(r#""{claim}":{nothing},"{claim}":{nothing}"#)), twice);
            fixture.accepted(&with_text(&format!(r#""{claim}":{nothing}"#)));
        }
        let scp = raw(&claims().to_string().replace(r#""scope":"#, &format!(r#""scope":{nothing},"scp":"#)));
        assert_eq!(fixture.accepted(&scp).scopes, Scopes::from_names(["read:profile read:courses"]));
        for (claim, word) in [("exp", "claim"), ("sub", "claim"), ("jti", "claim"), ("aud", "audience")] {
            let other =
                raw(&claims().to_string().replace(&format!(r#""{claim}":"#), &format!(r#""{claim}":{nothing},"x":"#)));
            fixture.refuses(claim, &other, word);
        }
    }
    let any = Fixture::with(|builder| builder.token_type(TokenType::Any));
    let header = but(ES256.header(), &json!({ "typ": "JWT" })).to_string();
    for nothing in ["null", "[]"] {
        let absent =
            ["nonce", "at_hash", "c_hash", "azp", "typ", "token_use"].map(|claim| format!(r#""{claim}":{nothing}"#));
        let payload = claims().to_string().replacen("{\"", &format!("{{{},\"", absent.join(",")), 1);
        let payload = payload.replace(r#""client_id":"partner""#, &format!(r#""client_id":{nothing},"cid":"other""#));
        let identity = any.accepted(&ES256.token_of(&header, &payload));
        assert_eq!(identity.issued.unwrap().client.as_deref(), Some("other"), "{nothing}");
    }
}

/// Unread members may have half an emoji, unbounded numbers or deeply nested lists, and may occur twice.
#[test]
fn what_is_not_read_does_not_make_a_token_invalid() {
    let fixture = Fixture::new();
    for unread in unreadable() {
        let members = format!(r#""name":{unread},"name":{unread}"#);
        fixture.accepted(&with_text(&members));
        let header = ES256.header().to_string().replacen('{', &format!("{{{members},"), 1);
        fixture.accepted(&ES256.token_of(&header, &claims().to_string()));
        for read in ["nbf", "scope"] {
            let payload = claims().to_string().replace(r#""scope":"#, r#""unread":"#);
            let payload = payload.replacen('{', &format!(r#"{{"{read}":{unread},"#), 1);
            fixture.refuses(read, &raw(&payload), "claim");
        }
    }
    fixture.accepted(&with_text(r#""name \ud83d":1,"\udc00":2"#));
    for (name, broken) in
        [("control", "\"a\nb\":1"), ("comma", r#""a":1,"#), ("NaN", r#""a":NaN"#), ("escape", r#""a":"\x""#)]
    {
        fixture.leaves(name, &with_text(broken), Some("form"));
    }
}

#[test]
fn only_scopes_of_this_api_count() {
    let fixture = Fixture::new();
    let scopes = |fixture: &Fixture, other| fixture.accepted(&with_claims(&other)).scopes.to_string();
    for (granted, ours) in [
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
        assert_eq!(scopes(&fixture, granted.clone()), ours, "{granted}");
    }
    for scope in [json!(1), json!({}), json!(["read:courses", 1]), json!(true)] {
        fixture.refuses(&scope.to_string(), &with_claims(&json!({ "scope": scope })), "claim");
        fixture.refuses(&scope.to_string(), &with_claims(&json!({ "scope": null, "scp": scope })), "claim");
    }
    let prefixed = Fixture::with(|builder| builder.scope_prefix("catalogue:"));
    let scope = "catalogue:read:courses read:profile other:read:profile catalogue:read:everything";
    assert_eq!(scopes(&prefixed, json!({ "scope": scope })), "read:courses");
}

/// Other problems are reported before an expiry: a caller that gets `expired` may expect that a fresh token works.
#[test]
fn an_expired_token_is_right_in_all_else() {
    let fixture = Fixture::new();
    for (other, word) in [
        (json!({ "aud": "other" }), "audience"),
        (json!({ "cnf": {} }), "bound"),
        (json!({ "jti": null }), "claim"),
        (json!({ "sub": "" }), "account"),
        (json!({ "nbf": NOW + 31 }), "not_before"),
        (json!({ "scope": 1 }), "claim"),
    ] {
        fixture.refuses(word, &with_claims(&but(other, &json!({ "exp": NOW }))), word);
    }
}

/// Okta, Keycloak and Entra ID use other claims for the client.
#[test]
fn a_client_has_other_names_where_any_type_is_taken() {
    let fixture = Fixture::with(|builder| builder.token_type(TokenType::Any));
    let clients = json!({ "client_id": "a", "azp": "b", "cid": "c", "appid": "d" });
    let mut others = clients.clone();
    for (name, client) in [("client_id", "a"), ("azp", "b"), ("cid", "c"), ("appid", "d")] {
        let issued = fixture.accepted(&with_claims(&others)).issued.unwrap();
        assert_eq!(issued.client.as_deref(), Some(client));
        fixture.refuses(name, &with_claims(&but(others.clone(), &json!({ "sub": client }))), "account");
        fixture.refuses(name, &with_claims(&but(others.clone(), &json!({ name: 1 }))), "claim");
        others[name] = json!(null);
    }
    // Fresh tokens without a client share one rate limit, separate from that of a client.
    let [first, second] =
        ["j1", "j2"].map(|jti| fixture.accepted(&with_claims(&but(others.clone(), &json!({ "jti": jti })))));
    assert_ne!(first.credential_id, second.credential_id);
    assert_eq!(first.rate_limit_subject(), second.rate_limit_subject());
    others["client_id"] = json!("");
    assert_ne!(fixture.accepted(&with_claims(&others)).rate_limit_subject(), first.rate_limit_subject());
}
