//! Accepted tokens: responses, metrics, metadata and log.

use serde_json::json;

use crate::issuer::{Issuer, courses, options, outcome_count, refusal, serve};
use crate::program::TestDir;

#[test]
fn tokens_of_each_algorithm_read_courses() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
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
fn token_scopes_limit_access() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let profile = issuer.token("scope=read:profile");
    assert_eq!((observed.server.get("/api/v1/me", &profile).0, courses(&observed, &profile)), (200, 403));
    let other = issuer.signed("claims=%7B%22scope%22:%22read:other%20write%22%7D");
    assert_eq!(courses(&observed, &other), 403);
    let (_, challenge, _) = refusal(&observed, &profile);
    assert!(challenge.contains("insufficient_scope"), "{challenge}");
}

#[test]
fn challenge_metadata_and_docs_name_the_issuer() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
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

#[test]
fn token_returns_403_if_only_api_keys_are_accepted() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = crate::observed::Observed::start(&dir, &format!("{} --accept api-key", options(&issuer)));
    assert_eq!(courses(&observed, &issuer.token("")), 403);
}
