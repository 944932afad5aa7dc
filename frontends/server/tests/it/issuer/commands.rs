//! `tokens check` and `doctor`.

use serde_json::Value;

use super::server::{Issuer, options};
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
    let Some((dir, issuer)) = Issuer::start() else { return };
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
    let Some((dir, mut issuer)) = Issuer::start() else { return };
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
    let Some((dir, issuer)) = Issuer::start() else { return };
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

#[test]
fn text_report_explains_errors_and_warnings() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let name = format!("ok       issuer       \"{}\"", issuer.name);
    let kind = "expected typ at+jwt in the header; or no claim typ";
    for (query, json, is_valid, pieces) in [
        // The server accepts a token for a missing account, so `tokens check` only warns, unless the token is invalid.
        ("", r#"{"account":"nobody"}"#, true, ["warning  account ", "no account \"nobody\""]),
        ("", r#"{"account":"nobody","aud":"x"}"#, false, ["ERROR    audience ", "-        account "]),
        // If any type is accepted, only a claim distinguishes an ID token from an access token.
        ("typ=JWT&", "{}", true, ["ok       header ", "ok       claims "]),
        ("typ=JWT&", r#"{"nonce":"n"}"#, false, ["ok       header ", &format!(r#"nonce "n"; {kind}"#)]),
        ("typ=JWT&", r#"{"token_use":"id"}"#, false, ["ERROR    claims ", &format!(r#"token_use "id"; {kind}"#)]),
        ("typ=JWT&", r#"{"exp":null}"#, false, ["ERROR    claims ", "expected exp, account, and each known claim"]),
        // Keycloak before 25 also puts the nonce of the sign-in into access tokens.
        ("typ=JWT&", r#"{"nonce":"n","typ":"Bearer"}"#, true, ["ok       header ", "ok       claims "]),
        // An issuer may truncate a display name in the middle of an emoji.
        ("", r#"{"name":"Anna \ud83d"}"#, true, [&name, "account \"a\""]),
        ("", r#"{"scope":"Anna \ud83d"}"#, false, ["ERROR    claims ", "scope (repeated or not readable); expected"]),
        (
            "",
            r#"{"name":"Anna \ud83d","iss":"x"}"#,
            false,
            ["ERROR    issuer       \"x\"; expected", "-        header "],
        ),
    ] {
        let options = if query.is_empty() { "" } else { "--oauth-token-type any" };
        let outcome = check(&dir, &issuer, &issuer.signed(&format!("{query}{}", claims(json))), options);
        let errors = outcome.out.lines().filter(|line| line.starts_with("ERROR ")).count();
        assert_eq!((errors, outcome.status == Some(0)), (usize::from(!is_valid), is_valid), "{json}: {outcome:?}");
        assert!(pieces.iter().all(|piece| outcome.out.contains(piece)), "{json}: {outcome:?}");
        assert!(is_valid || !outcome.out.contains("no account"), "an invalid token gets no warning: {outcome:?}");
    }
}

#[test]
fn doctor_checks_issuer_keys_and_audience() {
    let Some((dir, mut issuer)) = Issuer::start() else { return };
    let options = options(&issuer);
    let doctor = |more: &str| dir.run(&format!("doctor {options} {more} --listen 127.0.0.1:0"));
    let output = doctor("").out;
    assert!(output.contains("3 usable keys") && output.contains("the issuer's clock agrees"), "{output}");
    let output = doctor("--oauth-audience another").out;
    assert!(output.contains("warning  issuer       tokens have audience \"another\""), "{output}");
    issuer.publish("ES256-1,ES512-1");
    let output = doctor("").out;
    assert!(output.contains("skipped a key: \"ES512-1\""), "{output}");
    issuer.stop();
    let offline = doctor("");
    assert!(offline.status == Some(1) && offline.out.contains("ERROR    issuer"), "{offline:?}");
}
