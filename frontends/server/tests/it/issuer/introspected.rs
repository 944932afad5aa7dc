//! Opaque tokens, which are introspected.

use serde_json::json;

use super::server::{Issuer, courses, options, refusal, respond_with};
use crate::observed::Observed;
use crate::program::TestDir;

/// Returns the options for introspection, with the client secret that the issuer knows.
fn introspection(dir: &TestDir, issuer: &Issuer) -> String {
    let secret = dir.path("client-secret").display().to_string();
    let endpoint = format!("{}/token/introspection", issuer.name);
    let ask = format!("--oauth-introspection {endpoint} --oauth-client-id api:1 --oauth-client-secret file:{secret}");
    format!("{} {ask}", options(issuer))
}

fn outcome_count(observed: &Observed, word: &str) -> f64 {
    observed.metrics()[&format!("catalogue_introspected_tokens_total{{outcome=\"{word}\"}}")]
}

#[test]
fn opaque_token_is_accepted_until_revoked() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = Observed::start(&dir, &introspection(&dir, &issuer));
    let [token, profile] = ["", "&scope=read:profile"].map(|more| issuer.token(&format!("format=opaque{more}")));
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let expected = observed.server.get("/api/v1/courses", key.trim_end());
    assert_eq!((expected.0, observed.server.get("/api/v1/courses", &token)), (200, expected));
    let (status, me) = observed.server.get("/api/v1/me", &profile);
    assert_eq!((status, &me["data"]["userId"], &me["data"]["scopes"]), (200, &json!("a"), &json!(["read:profile"])));
    assert_eq!(courses(&observed, &profile), 403);
    assert_eq!(courses(&observed, &issuer.token("")), 200, "signed tokens are accepted too");
    assert_eq!(outcome_count(&observed, "accepted"), 3.0);

    issuer.revoke(&token);
    let (status, challenge, reason) = refusal(&observed, &token);
    assert_eq!((status, reason), (401, json!("invalid")));
    assert!(!challenge.contains("error_description"), "{challenge}");
    assert_eq!((refusal(&observed, "made-up").0, outcome_count(&observed, "inactive")), (401, 2.0));

    let log = observed.stop_and_read_log();
    assert!(log.contains("oauth_client=\"partner\"") && log.contains("outcome=\"inactive\""), "{log}");
    for secret in [&token, &profile, "made-up", "secret=0123456789", "Basic"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn accepted_token_is_cached_if_configured() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = Observed::start(&dir, &format!("{} --oauth-introspection-cache 60s", introspection(&dir, &issuer)));
    let token = issuer.token("format=opaque");
    assert_eq!(courses(&observed, &token), 200);
    issuer.revoke(&token);
    assert_eq!((courses(&observed, &token), outcome_count(&observed, "cached")), (200, 1.0));
}

#[test]
fn wrong_client_secret_returns_500_and_fails_doctor() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let introspection = introspection(&dir, &issuer);
    let doctor = || dir.run(&format!("doctor {introspection} --listen 127.0.0.1:0"));
    let output = doctor().out;
    assert!(output.contains("ok       issuer       introspection of opaque tokens works"), "{output}");
    dir.write("client-secret", "hunter2hunter2");
    let observed = Observed::start(&dir, &introspection);
    assert_eq!(courses(&observed, &issuer.token("format=opaque")), 500);
    assert_eq!(courses(&observed, &issuer.token("")), 200, "signed tokens need no introspection");
    let output = doctor();
    assert!(output.status == Some(1) && output.out.contains("ERROR    issuer"), "{output:?}");
    let log = observed.stop_and_read_log();
    for output in [&output.out, &log] {
        assert!(output.contains("unexpected status 401 Unauthorized") && !output.contains("hunter2"), "{output}");
    }
}

#[test]
fn tokens_check_reports_introspection_result() {
    let Some((dir, mut issuer)) = Issuer::start() else { return };
    let introspection = introspection(&dir, &issuer);
    let check = |token: &str, options: &str| {
        let outcome = dir.run_reading(token, &format!("tokens check {options}"));
        assert!(!outcome.out.contains(token) && !outcome.err.contains(token), "{outcome:?}");
        outcome
    };
    let fails = |token: &str, options: &str, piece: &str| {
        let outcome = check(token, options);
        assert!(outcome.status == Some(1) && outcome.out.contains(piece), "{piece}: {outcome:?}");
    };
    let token = issuer.token("format=opaque");
    let output = check(&token, &introspection).succeeds();
    assert_eq!(
        output,
        "ok       introspection  the issuer reports it as active: account \"a\", read:profile read:courses\n"
    );
    check(&issuer.token(""), &introspection).succeeds();
    dir.run("migrate --database sqlite:other.db").succeeds();
    let output = check(&token, &format!("{introspection} --database sqlite:other.db")).succeeds();
    assert!(output.contains("warning  account ") && output.contains("no account \"a\""), "{output}");
    let for_another = issuer.token("format=opaque&resource=https://other.example.com");
    fails(&for_another, &introspection, "is rejected: The token is for another audience.");
    // Without introspection, the token is only malformed.
    fails(&token, &options(&issuer), "for opaque tokens, set --oauth-introspection");
    issuer.revoke(&token);
    fails(&token, &introspection, "the issuer's response is rejected: inactive");
    issuer.stop();
    fails(&token, &introspection, "ERROR    introspection  cannot introspect a token");
}

/// Issuers report refresh tokens as active, even if the request is about access tokens.
#[test]
fn tokens_check_explains_refresh_token() {
    let body = r#"{"active":true,"aud":"a","sub":"a","exp":4000000000,"token_use":"refresh_token"}"#;
    let endpoint = format!("{}/introspect?tenant=1", respond_with(body));
    let dir = TestDir::new();
    dir.write("secret", "s");
    let issuer = "--oauth-issuer https://id.example.com --oauth-keys file:none --oauth-audience a";
    let client = "--oauth-client-id c --oauth-client-secret file:secret";
    let options = format!("{issuer} --oauth-introspection {endpoint} {client}");
    let output = dir.run_reading("opaque-text", &format!("tokens check {options}")).out;
    assert!(output.contains("is rejected: not an access token"), "{output}");
}
