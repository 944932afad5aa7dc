//! `tokens check` and `doctor`.

use serde_json::Value;

use crate::issuer::{Issuer, options};
use crate::program::{Outcome, TestDir};

/// The query of a token with those claims.
pub(crate) fn claims(json: &str) -> String {
    let encoded = json.bytes().map(|byte| format!("%{byte:02X}"));
    format!("claims={}", encoded.collect::<String>())
}

fn check(dir: &TestDir, issuer: &Issuer, token: &str, more: &str) -> Outcome {
    dir.run_reading(token, &format!("tokens check {} {more}", options(issuer)))
}

#[test]
fn a_good_token_is_explained_and_not_repeated() {
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
fn a_fault_is_named_with_what_is_wanted_and_what_was_not_reached() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let good = issuer.token("");
    let (start, _) = good.rsplit_once('.').unwrap();
    for (token, step, expected) in [
        ("hunter2".to_owned(), "form", "three parts"),
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
    let away = check(&dir, &issuer, &good, "");
    assert_eq!((away.status, &*away.err), (Some(1), "error: there is 1 fault to mend\n"));
    assert!(away.out.contains("ERROR    keys ") && away.out.contains("refused"), "{away:?}");
    dir.run_reading(&good, "tokens check").fails(2, &["--oauth-issuer"]);
}

/// What is no token, and what a database says of one.
#[test]
fn what_is_read_is_bounded_and_looked_up() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let token = issuer.token("");
    assert!(check(&dir, &issuer, "\n", "").out.contains("ERROR    form         standard input has no token"));
    let long = check(&dir, &issuer, &"a".repeat(100_000), "").out;
    assert!(long.contains("65536 characters; wanted"), "{long:.300}");
    dir.write("broken.db", "no database");
    let broken = check(&dir, &issuer, &token, "--database sqlite:broken.db").out;
    assert!(broken.contains("ERROR    revoked "), "{broken}");
    let files = dir.files();
    let missing = check(&dir, &issuer, &token, "--database sqlite:missing.db").succeeds();
    assert!(missing.contains("-        revoked      not reached") && dir.files() == files, "{missing}");
    dir.run_reading(&token, &format!("tokens revoke --log off {}", options(&issuer))).succeeds();
    let revoked = check(&dir, &issuer, &token, "").out;
    assert!(revoked.contains("ERROR    revoked      the token was revoked here"), "{revoked}");
}

/// Such a token is taken, so it is no fault.
#[test]
fn an_account_that_is_not_there_is_told() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let output = check(&dir, &issuer, &issuer.signed(&claims(r#"{"account":"nobody"}"#)), "").succeeds();
    assert!(output.contains("warning  account ") && output.contains("no account \"nobody\""), "{output}");
    let output = check(&dir, &issuer, &issuer.signed(&claims(r#"{"account":"nobody","aud":"x"}"#)), "").out;
    assert!(!output.contains("no account"), "whose it is does not matter then: {output}");
}

/// Where any type is taken, the header of an ID token is right, and what tells it is a claim.
#[test]
fn an_id_token_fails_at_its_claims_where_any_type_is_taken() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let check =
        |other: &str| check(&dir, &issuer, &issuer.signed(&format!("typ=JWT&{other}")), "--oauth-token-type any");
    check("").succeeds();
    for (other, expected) in [
        (r#"{"nonce":"n"}"#, r#"nonce "n"; wanted no nonce, at_hash or c_hash"#),
        (r#"{"token_use":"refresh_token"}"#, r#"token_use "refresh_token"; wanted no nonce"#),
        (r#"{"exp":null}"#, "wanted exp, account, and each claim"),
    ] {
        let output = check(&claims(other)).out;
        let is_fault = |line: &&str| line.starts_with("ERROR");
        let error_line = output.lines().find(is_fault).unwrap();
        assert!(error_line.starts_with("ERROR    claims ") && error_line.contains(expected), "{output}");
        assert!(output.contains("ok       header "), "{output}");
    }
    // Keycloak before 25 has the nonce of the sign-in in access tokens too.
    check(&claims(r#"{"nonce":"n","typ":"Bearer"}"#)).succeeds();
}

/// An issuer may cut a display name in the middle of an emoji.
#[test]
fn claim_that_cannot_be_read_is_named_where_it_is_read_and_ignored_elsewhere() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let cut = |claim: &str| issuer.signed(&claims(&format!(r#"{{"{claim}":"Anna \ud83d"}}"#)));
    let output = check(&dir, &issuer, &cut("name"), "").succeeds();
    assert!(output.contains(&issuer.name) && output.contains("account \"a\""), "{output}");
    let output = check(&dir, &issuer, &cut("scope"), "").out;
    assert!(
        output.contains("ERROR    claims ") && output.contains("scope (twice, or not readable); wanted"),
        "{output}"
    );
    let other = issuer.signed(&claims(r#"{"name":"Anna \ud83d","iss":"https://other.example.com"}"#));
    let output = check(&dir, &issuer, &other, "").out;
    assert!(output.contains("ERROR    issuer       \"https://other.example.com\"; wanted"), "{output}");
}

#[test]
fn doctor_looks_at_the_issuer() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let doctor = |more: &str| dir.run(&format!("doctor {} {more} --listen 127.0.0.1:0", options(&issuer)));
    let output = doctor("").out;
    assert!(output.contains("3 usable keys") && output.contains("its clock agrees"), "{output}");
    let output = doctor("--oauth-audience another").out;
    assert!(output.contains("warning  issuer       tokens are for the audience \"another\""), "{output}");
    issuer.publish("ES256-1,ES512-1");
    let output = doctor("").out;
    assert!(output.contains("a key is not used: \"ES512-1\""), "{output}");
    issuer.stop();
    let gone = dir.run(&format!("doctor {} --listen 127.0.0.1:0", options(&issuer)));
    assert!(gone.status == Some(1) && gone.out.contains("ERROR    issuer"), "{gone:?}");
}
