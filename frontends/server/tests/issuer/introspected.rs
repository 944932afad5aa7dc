//! Opaque tokens, about which the issuer is asked.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::issuer::{Issuer, courses, options, refusal};
use crate::observed::Observed;
use crate::program::TestDir;

/// What `serve` is told to ask the issuer, with the secret that it knows.
fn asking(dir: &TestDir, issuer: &Issuer) -> String {
    let secret = dir.path("client-secret").display().to_string();
    let endpoint = format!("{}/token/introspection", issuer.name);
    let ask = format!("--oauth-introspection {endpoint} --oauth-client-id api:1 --oauth-client-secret file:{secret}");
    format!("{} {ask}", options(issuer))
}

fn outcome(observed: &Observed, word: &str) -> f64 {
    observed.metrics()[&format!("catalogue_introspected_tokens_total{{outcome=\"{word}\"}}")]
}

#[test]
fn an_opaque_token_is_taken_until_it_is_revoked() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = Observed::start(&dir, &asking(&dir, &issuer));
    let [token, profile] = ["", "&scope=read:profile"].map(|more| issuer.token(&format!("format=opaque{more}")));
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let expected = observed.server.get("/api/v1/courses", key.trim_end());
    assert_eq!((expected.0, observed.server.get("/api/v1/courses", &token)), (200, expected));
    let (status, me) = observed.server.get("/api/v1/me", &profile);
    assert_eq!((status, &me["data"]["userId"], &me["data"]["scopes"]), (200, &json!("a"), &json!(["read:profile"])));
    assert_eq!(courses(&observed, &profile), 403);
    assert_eq!(courses(&observed, &issuer.token("")), 200, "signed ones too");
    assert_eq!(outcome(&observed, "accepted"), 3.0);

    issuer.revoke(&token);
    let (status, challenge, reason) = refusal(&observed, &token);
    assert_eq!((status, reason), (401, json!("invalid")));
    assert!(!challenge.contains("error_description"), "{challenge}");
    assert_eq!((refusal(&observed, "made-up").0, outcome(&observed, "inactive")), (401, 2.0));

    let log = observed.ended_log();
    assert!(log.contains("oauth_client=\"partner\"") && log.contains("outcome=\"inactive\""), "{log}");
    for secret in [&token, &profile, "made-up", "secret=0123456789", "Basic"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn a_token_of_another_audience_is_refused() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = Observed::start(&dir, &asking(&dir, &issuer));
    let (status, challenge, reason) =
        refusal(&observed, &issuer.token("format=opaque&resource=https://other.example.com"));
    assert_eq!((status, reason), (401, json!("invalid")));
    assert!(challenge.contains("The token is for another audience."), "{challenge}");
}

#[test]
fn an_opaque_token_expires() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = Observed::start(&dir, &format!("{} --oauth-introspection-cache 60s", asking(&dir, &issuer)));
    let token = issuer.token("format=opaque&lifetime=2");
    let end = Instant::now() + Duration::from_secs(2);
    assert_eq!(courses(&observed, &token), 200);
    loop {
        let sent = Instant::now();
        if courses(&observed, &token) != 200 {
            break;
        }
        assert!(sent < end, "it is kept past its end");
    }
    assert_eq!(refusal(&observed, &token).0, 401);
}

#[test]
fn an_accepted_token_is_kept_where_the_operator_wants_it() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = Observed::start(&dir, &format!("{} --oauth-introspection-cache 60s", asking(&dir, &issuer)));
    let token = issuer.token("format=opaque");
    assert_eq!(courses(&observed, &token), 200);
    issuer.revoke(&token);
    assert_eq!((courses(&observed, &token), outcome(&observed, "cached")), (200, 1.0));
}

#[test]
fn an_issuer_that_is_away_refuses_nobody() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let observed = Observed::start(&dir, &asking(&dir, &issuer));
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let token = issuer.token("format=opaque");
    assert_eq!(courses(&observed, &token), 200);
    issuer.stop();
    assert_eq!([courses(&observed, &token), courses(&observed, key.trim_end())], [500, 200]);
    observed.logs("the issuer cannot be asked about a token now");
    issuer.start_again();
    assert_eq!(courses(&observed, &issuer.token("format=opaque")), 200);
    assert_eq!(outcome(&observed, "unavailable"), 1.0);
}

#[test]
fn a_wrong_secret_is_the_operators_fault() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let asking = asking(&dir, &issuer);
    let doctor = || dir.run(&format!("doctor {asking} --listen 127.0.0.1:0"));
    let output = doctor().out;
    assert!(output.contains("ok       issuer       it answers about opaque tokens"), "{output}");
    dir.write("client-secret", "hunter2hunter2");
    let observed = Observed::start(&dir, &asking);
    assert_eq!(courses(&observed, &issuer.token("format=opaque")), 500);
    assert_eq!(courses(&observed, &issuer.token("")), 200, "signed ones are known without it");
    let output = doctor();
    assert!(output.status == Some(1) && output.out.contains("ERROR    issuer"), "{output:?}");
    let log = observed.ended_log();
    for output in [&output.out, &log] {
        assert!(output.contains("the answer was 401 Unauthorized") && !output.contains("hunter2"), "{output}");
    }
}

#[test]
fn tokens_check_says_what_the_issuer_answers() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let asking = asking(&dir, &issuer);
    let check = |token: &str, options: &str| {
        let outcome = dir.run_reading(token, &format!("tokens check {options}"));
        assert!(!outcome.out.contains(token) && !outcome.err.contains(token), "{outcome:?}");
        outcome
    };
    let token = issuer.token("format=opaque");
    let output = check(&token, &asking).succeeds();
    assert_eq!(
        output,
        "ok       introspection  the issuer calls it active: account \"a\", read:profile read:courses\n"
    );
    check(&issuer.token(""), &asking).succeeds();
    dir.run("migrate --database sqlite:other.db").succeeds();
    let output = check(&token, &format!("{asking} --database sqlite:other.db")).succeeds();
    assert!(output.contains("warning  account ") && output.contains("no account \"a\""), "{output}");
    let output = check(&issuer.token("format=opaque&resource=https://other.example.com"), &asking);
    assert!(
        output.status == Some(1) && output.out.contains("is refused: The token is for another audience."),
        "{output:?}"
    );
    // Without an answer there is no more to say than that its form is not that of a signed one.
    let output = check(&token, &options(&issuer));
    assert!(output.status == Some(1) && output.out.contains("--oauth-introspection for opaque tokens"), "{output:?}");
    issuer.revoke(&token);
    let output = check(&token, &asking);
    assert!(output.status == Some(1) && output.out.contains("the issuer's answer is refused: inactive"), "{output:?}");
    issuer.stop();
    let output = check(&token, &asking);
    assert!(
        output.status == Some(1) && output.out.contains("ERROR    introspection  the issuer cannot be asked"),
        "{output:?}"
    );
}
