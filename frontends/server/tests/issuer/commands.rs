//! `tokens check` and `doctor`.

use serde_json::Value;

use crate::issuer::{Issuer, options};
use crate::program::{Outcome, TestDir};

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
    let told = outcome.succeeds();
    for piece in ["3 parts", "kid \"ES256-1\"", "3 usable", "account \"a\"", "read:profile read:courses"] {
        assert!(told.contains(piece), "{piece}: {told}");
    }
    assert_eq!(told.lines().filter(|line| line.starts_with("ok ")).count(), 11, "{told}");
}

#[test]
fn a_fault_is_named_with_what_is_wanted_and_what_was_not_reached() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let other_claims =
        |json: &str| format!("claims={}", json.replace('"', "%22").replace('{', "%7B").replace('}', "%7D"));
    let good = issuer.token("");
    let (start, _) = good.rsplit_once('.').unwrap();
    for (token, step, wanted) in [
        ("hunter2".to_owned(), "form", "three parts"),
        (format!("{start}.{}", "A".repeat(86)), "signature", "a key of the issuer"),
        (issuer.signed("typ=JWT"), "header", "at+jwt"),
        (issuer.signed("kid=ES256-9"), "keys", "kid"),
        (issuer.signed(&other_claims(r#"{"iss":"https://other.example.com"}"#)), "issuer", &issuer.name),
        (
            issuer.signed(&other_claims(r#"{"aud":"x"}"#)),
            "audience",
            "\"https://api.example.com/api/v1\" (--oauth-audience)",
        ),
        (issuer.signed(&other_claims(r#"{"exp":1}"#)), "times", "until 1970-01-01"),
        (issuer.signed(&other_claims(r#"{"jti":null}"#)), "claims", "jti"),
        (issuer.signed(&other_claims(r#"{"account":""}"#)), "account", "1 to 200"),
    ] {
        let outcome = check(&dir, &issuer, &token, "--json");
        assert!(!outcome.out.contains("hunter2"), "{outcome:?}");
        assert_eq!(outcome.status, Some(1), "{step}: {outcome:?}");
        let told: Value = serde_json::from_str(&outcome.out).unwrap();
        let findings = told["findings"].as_array().unwrap();
        let faults: Vec<_> = findings.iter().filter(|finding| finding["verdict"] == "fault").collect();
        assert_eq!((faults.len(), faults[0]["check"].as_str()), (1, Some(step)), "{told}");
        assert!(faults[0]["message"].as_str().unwrap().contains(wanted), "{told}");
        let unreached = findings.iter().filter(|finding| finding["verdict"] == "not reached").count();
        assert_eq!(unreached == 0, step == "times", "{told}");
    }
    issuer.stop();
    let away = check(&dir, &issuer, &good, "");
    assert_eq!((away.status, &*away.err), (Some(1), "error: there is 1 fault to mend\n"));
    assert!(away.out.contains("FAULT    keys ") && away.out.contains("refused"), "{away:?}");
    dir.run_reading(&good, "tokens check").fails(2, &["--oauth-issuer"]);
}

#[test]
fn doctor_looks_at_the_issuer() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let doctor = |more: &str| dir.run(&format!("doctor {} {more} --listen 127.0.0.1:0", options(&issuer)));
    let told = doctor("").out;
    assert!(told.contains("3 usable keys") && told.contains("its clock agrees"), "{told}");
    let told = doctor("--oauth-audience another").out;
    assert!(told.contains("warning  issuer       tokens are for the audience \"another\""), "{told}");
    issuer.publish("ES256-1,ES512-1");
    let told = doctor("").out;
    assert!(told.contains("a key is not used: \"ES512-1\""), "{told}");
    issuer.stop();
    let gone = dir.run(&format!("doctor {} --listen 127.0.0.1:0", options(&issuer)));
    assert!(gone.status == Some(1) && gone.out.contains("FAULT    issuer"), "{gone:?}");
}
