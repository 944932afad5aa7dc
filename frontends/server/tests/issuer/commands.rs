//! `tokens check` and `doctor`.

use serde_json::Value;

use crate::issuer::{Issuer, options};
use crate::program::{Outcome, TestDir};

/// Returns the query for a token with the claims `json`.
pub(crate) fn claims(json: &str) -> String {
    let encoded = json.bytes().map(|byte| format!("%{byte:02X}"));
    format!("claims={}", encoded.collect::<String>())
}

fn check(dir: &TestDir, issuer: &Issuer, token: &str, more: &str) -> Outcome {
    dir.run_reading(token, &format!("tokens check {} {more}", options(issuer)))
}

#[test]
fn valid_token_is_explained_but_not_repeated() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let token = issuer.token("");
    let outcome = check(&dir, &issuer, &format!("{token}\n"), "");
    assert!(token.split('.').all(|part| !outcome.out.contains(part) && !outcome.err.contains(part)), "{outcome:?}");
    assert_eq!(outcome.err, "", "nothing is logged");
    let output = outcome.succeeds();
    for piece in ["3 parts", "kid \"ES256-1\"", "3 usable", "account \"a\"", "read:profile read:courses"] {
        assert!(output.contains(piece), "{piece}: {output}");
    }
    assert_eq!(output.lines().filter(|line| line.starts_with("ok ")).count(), 11, "{output}");
}

#[test]
fn invalid_token_report_names_failed_and_unreached_checks() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let good = issuer.token("");
    let (start, _) = good.rsplit_once('.').unwrap();
    for (token, step, expected) in [
        ("hunter2".to_owned(), "form", "three base64url parts"),
        (format!("{start}.{}", "A".repeat(86)), "signature", "a key of the issuer"),
        (issuer.signed("typ=JWT"), "header", "at+jwt"),
        (issuer.signed("kid=ES256-9"), "keys", "kid"),
        (issuer.signed(&claims(r#"{"iss":"https://other.example.com"}"#)), "issuer", &issuer.name),
        (issuer.signed(&claims(r#"{"aud":"x"}"#)), "audience", "\"https://api.example.com/api/v1\" (--oauth-audience)"),
        (issuer.signed(&claims(r#"{"exp":1}"#)), "times", "until 1970-01-01"),
        (issuer.signed(&claims(r#"{"jti":null}"#)), "claims", "jti"),
        (issuer.signed(&claims(r#"{"account":""}"#)), "account", "1 to 200"),
    ] {
        let outcome = check(&dir, &issuer, &token, "--json");
        assert!(!outcome.out.contains("hunter2"), "{outcome:?}");
        assert_eq!(outcome.status, Some(1), "{step}: {outcome:?}");
        let output: Value = serde_json::from_str(&outcome.out).unwrap();
        let findings = output["findings"].as_array().unwrap();
        let errors: Vec<_> = findings.iter().filter(|finding| finding["verdict"] == "error").collect();
        assert_eq!((errors.len(), errors[0]["check"].as_str()), (1, Some(step)), "{output}");
        assert!(errors[0]["message"].as_str().unwrap().contains(expected), "{output}");
        let unreached = findings.iter().filter(|finding| finding["verdict"] == "not reached").count();
        assert_eq!(unreached == 0, step == "times", "{output}");
    }
    issuer.stop();
    let offline = check(&dir, &issuer, &good, "");
    assert_eq!((offline.status, &*offline.err), (Some(1), "error: 1 problem found\n"));
    assert!(offline.out.contains("ERROR    keys ") && offline.out.contains("refused"), "{offline:?}");
    dir.run_reading(&good, "tokens check").fails(2, &["--oauth-issuer"]);
}

#[test]
fn tokens_check_limits_input_and_looks_up_revocation() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let token = issuer.token("");
    assert!(check(&dir, &issuer, "\n", "").out.contains("ERROR    form         standard input contains no token"));
    let long = check(&dir, &issuer, &"a".repeat(100_000), "").out;
    assert!(long.contains("65536 characters; expected"), "{long:.300}");
    dir.write("broken.db", "no database");
    let broken = check(&dir, &issuer, &token, "--database sqlite:broken.db").out;
    assert!(broken.contains("ERROR    revoked "), "{broken}");
    let files = dir.files();
    let missing = check(&dir, &issuer, &token, "--database sqlite:missing.db").succeeds();
    assert!(missing.contains("-        revoked      not reached") && dir.files() == files, "{missing}");
    dir.run_reading(&token, &format!("tokens revoke --log off {}", options(&issuer))).succeeds();
    let revoked = check(&dir, &issuer, &token, "").out;
    assert!(revoked.contains("ERROR    revoked      the token was revoked in this database"), "{revoked}");
}

/// The server accepts a token for a missing account, so `tokens check` only warns.
#[test]
fn token_for_missing_account_gets_warning() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let output = check(&dir, &issuer, &issuer.signed(&claims(r#"{"account":"nobody"}"#)), "").succeeds();
    assert!(output.contains("warning  account ") && output.contains("no account \"nobody\""), "{output}");
    let output = check(&dir, &issuer, &issuer.signed(&claims(r#"{"account":"nobody","aud":"x"}"#)), "").out;
    assert!(!output.contains("no account"), "an invalid token gets no warning: {output}");
}

/// If any type is accepted, the header of an ID token is valid, and only a claim distinguishes it from an access token.
#[test]
fn id_token_fails_claims_check_if_any_type_is_accepted() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let check =
        |other: &str| check(&dir, &issuer, &issuer.signed(&format!("typ=JWT&{other}")), "--oauth-token-type any");
    check("").succeeds();
    for (other, expected) in [
        (r#"{"nonce":"n"}"#, r#"nonce "n"; expected typ at+jwt in the header; or no claim typ"#),
        (r#"{"token_use":"refresh_token"}"#, r#"token_use "refresh_token"; expected typ at+jwt"#),
        (r#"{"exp":null}"#, "expected exp, account, and each known claim"),
    ] {
        let output = check(&claims(other)).out;
        let is_error = |line: &&str| line.starts_with("ERROR");
        let error_line = output.lines().find(is_error).unwrap();
        assert!(error_line.starts_with("ERROR    claims ") && error_line.contains(expected), "{output}");
        assert!(output.contains("ok       header "), "{output}");
    }
    // Keycloak before 25 also puts the nonce of the sign-in into access tokens.
    check(&claims(r#"{"nonce":"n","typ":"Bearer"}"#)).succeeds();
}

/// An issuer may truncate a display name in the middle of an emoji.
#[test]
fn unreadable_claim_is_reported_only_if_used() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let cut = |claim: &str| issuer.signed(&claims(&format!(r#"{{"{claim}":"Anna \ud83d"}}"#)));
    let output = check(&dir, &issuer, &cut("name"), "").succeeds();
    assert!(output.contains(&issuer.name) && output.contains("account \"a\""), "{output}");
    let output = check(&dir, &issuer, &cut("scope"), "").out;
    assert!(
        output.contains("ERROR    claims ") && output.contains("scope (repeated or not readable); expected"),
        "{output}"
    );
    let other = issuer.signed(&claims(r#"{"name":"Anna \ud83d","iss":"https://other.example.com"}"#));
    let output = check(&dir, &issuer, &other, "").out;
    assert!(output.contains("ERROR    issuer       \"https://other.example.com\"; expected"), "{output}");
}

#[test]
fn doctor_checks_issuer_keys_and_audience() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let doctor = |more: &str| dir.run(&format!("doctor {} {more} --listen 127.0.0.1:0", options(&issuer)));
    let output = doctor("").out;
    assert!(output.contains("3 usable keys") && output.contains("the issuer's clock agrees"), "{output}");
    let output = doctor("--oauth-audience another").out;
    assert!(output.contains("warning  issuer       tokens have audience \"another\""), "{output}");
    issuer.publish("ES256-1,ES512-1");
    let output = doctor("").out;
    assert!(output.contains("skipped a key: \"ES512-1\""), "{output}");
    issuer.stop();
    let offline = dir.run(&format!("doctor {} --listen 127.0.0.1:0", options(&issuer)));
    assert!(offline.status == Some(1) && offline.out.contains("ERROR    issuer"), "{offline:?}");
}
