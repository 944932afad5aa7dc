//! Signed tokens: responses, metrics, metadata and log.

use serde_json::json;

use super::commands::claims;
use super::server::{Issuer, courses, outcome_count, refusal, serve};

#[test]
fn tokens_of_each_algorithm_read_courses() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let expected = observed.server.get("/api/v1/courses", key.trim_end());
    assert_eq!(expected.0, 200);
    let tokens: Vec<_> = ["ES256", "RS256", "EdDSA"].iter().map(|alg| issuer.token(&format!("alg={alg}"))).collect();
    for token in tokens.iter().chain(&tokens) {
        assert_eq!(observed.server.get("/api/v1/courses", token), expected);
    }
    assert_eq!([outcome_count(&observed, "accepted"), outcome_count(&observed, "cached")], [3.0, 3.0]);
    let (status, mut me) = observed.server.get("/api/v1/me", &tokens[0]);
    let me = me["data"].take();
    assert_eq!((status, &me["userId"], &me["scopes"]), (200, &json!("a"), &json!(["read:profile", "read:courses"])));
    assert!(me["apiKeyId"].as_str().unwrap().starts_with("oauth:"), "{me}");

    let (status, ready) = observed.ready();
    assert_eq!((status, &ready["issuer"]), (200, &json!("ok")));
    let metrics = observed.metrics();
    assert_eq!(metrics["catalogue_issuer_keys"], 3.0);
    assert!(metrics["catalogue_issuer_keys_age_seconds"] < 600.0);

    let log = observed.stop_and_read_log();
    for token in &tokens {
        let secrets = token.split('.').chain([&**token]);
        secrets.for_each(|secret| assert!(!log.contains(secret), "{log}"));
    }
    assert!(log.contains("account=\"a\"") && log.contains("oauth_client=\"partner\""), "{log}");
}

#[test]
fn challenge_metadata_and_docs_name_the_issuer() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let (status, challenge, _) = refusal(&observed, "");
    let path = "/.well-known/oauth-protected-resource/api/v1";
    assert!(status == 401 && challenge.contains(&format!("https://api.example.com{path}")), "{challenge}");
    let (status, metadata) = observed.server.get(path, "");
    assert_eq!((status, &metadata["authorization_servers"]), (200, &json!([issuer.name])));
    assert_eq!(metadata["resource"], "https://api.example.com/api/v1");
    let (_, document) = observed.server.get("/docs/openapi.json", "");
    let scheme = document["components"]["securitySchemes"]["bearer"]["description"].as_str().unwrap();
    let named = format!("signed by `{}` for the audience `https://api.example.com/api/v1`", issuer.name);
    assert!(scheme.contains(&named), "{scheme}");
}

/// The tests of the core have all reasons.
#[test]
fn invalid_tokens_are_refused_and_counted_by_reason() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let valid = issuer.signed("");
    assert_eq!(courses(&observed, &valid), 200);
    let (signed, _) = valid.rsplit_once('.').unwrap();
    for (token, outcome, reason, description) in [
        (format!("{signed}.{}", "A".repeat(86)), "signature", "invalid", None),
        (
            issuer.signed(&claims(r#"{"aud":"https://api.example.com/api/v1/"}"#)),
            "audience",
            "invalid",
            Some("The token is for another audience."),
        ),
        (issuer.signed(&claims(r#"{"exp":1}"#)), "expired", "expired", Some("The token has expired.")),
    ] {
        let (status, challenge, refused) = refusal(&observed, &token);
        assert_eq!((status, refused.as_str()), (401, Some(reason)), "{outcome}");
        assert_eq!(challenge.contains("error_description"), description.is_some(), "{outcome}: {challenge}");
        assert!(challenge.contains(description.unwrap_or_default()), "{outcome}: {challenge}");
        assert_eq!(outcome_count(&observed, outcome), 1.0, "{outcome}");
        observed.wait_for_log(&format!("outcome=\"{outcome}\""));
    }
}
