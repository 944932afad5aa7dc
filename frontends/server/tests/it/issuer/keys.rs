//! The issuer's keys: rotation, sources, and issuers that are unavailable.

use serde_json::json;

use super::server::{Issuer, courses, options, outcome_count, respond_with, serve, wait_for_fetches};
use crate::observed::Observed;
use crate::program::{TestDir, get};

/// The key of RFC 8037, appendix A.2.
const SET: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

#[test]
fn valid_tokens_are_accepted_across_key_rotation() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let old = issuer.token("");
    assert_eq!(courses(&observed, &old), 200);
    // The issuer publishes a new key and uses it immediately: the first token makes the server fetch the keys.
    issuer.publish("ES256-2,ES256-1");
    let new = issuer.token("");
    assert_eq!([courses(&observed, &new), courses(&observed, &old)], [200, 200]);
    observed.wait_for_log("added=[\"ES256-2\"]");
    assert_eq!(observed.metrics()["catalogue_issuer_fetches_total{outcome=\"success\"}"], 2.0);
    // The issuer removes the old key: after the next fetch, even cached tokens of the key are refused.
    issuer.publish("ES256-2");
    observed.server.signal("HUP");
    wait_for_fetches(&observed, 3.0);
    assert_eq!([courses(&observed, &new), courses(&observed, &old)], [200, 401]);
}

#[test]
fn known_keys_work_while_issuer_is_unavailable() {
    let Some((dir, mut issuer)) = Issuer::start() else { return };
    let observed = serve(&dir, &issuer);
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let (cached, known, unknown) = (issuer.token(""), issuer.token("alg=RS256"), issuer.signed("kid=ES256-2"));
    assert_eq!(courses(&observed, &cached), 200);
    issuer.stop();
    assert_eq!([&cached, &known, &unknown].map(|token| courses(&observed, token)), [200, 200, 500]);
    assert_eq!(outcome_count(&observed, "unavailable"), 1.0);
    assert_eq!(courses(&observed, key.trim_end()), 200);
    observed.server.signal("HUP");
    observed.wait_for_metric("catalogue_issuer_fetches_total{outcome=\"failure\"}", 2.0);

    issuer.start_again();
    issuer.publish("ES256-1,ES256-2");
    observed.server.signal("HUP");
    observed.wait_for_log("fetching the issuer's keys works again");
    assert_eq!([&cached, &unknown].map(|token| courses(&observed, token)), [200, 200]);
    let log = observed.stop_and_read_log();
    assert_eq!(log.lines().filter(|line| line.contains("cannot fetch the issuer's keys")).count(), 1, "{log}");
    assert!(log.contains("refused") || log.contains("onnect"), "the log contains the reason: {log}");
}

#[test]
fn server_starts_while_issuer_is_unavailable() {
    let Some((dir, mut issuer)) = Issuer::start() else { return };
    let token = issuer.token("");
    issuer.stop();
    let observed = Observed::start(&dir, &options(&issuer));
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    assert_eq!([courses(&observed, key.trim_end()), courses(&observed, &token)], [200, 500]);
    let (status, ready) = observed.ready();
    assert_eq!((status, &ready["issuer"]), (200, &json!("no keys yet")));
    issuer.start_again();
    observed.server.signal("HUP");
    wait_for_fetches(&observed, 1.0);
    assert_eq!(courses(&observed, &token), 200);
}

#[test]
fn keys_can_come_from_url_or_file() {
    let Some((dir, issuer)) = Issuer::start() else { return };
    dir.write("set.json", get(&issuer.name[7..], "/jwks", "").1.to_string());
    for source in [format!("{}/jwks", issuer.name), "file:set.json".to_owned()] {
        let observed = Observed::start(&dir, &format!("{} --oauth-keys {source}", options(&issuer)));
        assert_eq!(courses(&observed, &issuer.token("")), 200, "{source}");
    }
}

/// Then the issuer is only compared with the tokens' `iss`, and is not published as an authorization server.
#[test]
fn issuer_may_be_any_text_if_keys_are_configured() {
    let dir = TestDir::new();
    dir.write("set", SET);
    for issuer in
        ["http://adfs.example.com/adfs/services/trust", "accounts.google.com", "urn:example:issuer", "https://a/?b"]
    {
        let options =
            format!("--base-url https://api.example.com/api/v1 --oauth-issuer {issuer} --oauth-keys file:set");
        let observed = Observed::start(&dir, &options);
        wait_for_fetches(&observed, 1.0);
        assert_eq!(observed.server.get("/.well-known/oauth-protected-resource/api/v1", "").0, 404, "{issuer}");
        let document = dir.run(&format!("openapi {options}")).succeeds();
        assert!(document.contains(&format!("signed by `{issuer}`")), "{document}");
    }
}

/// Machines without CA certificates can use a local issuer over HTTP, or keys in a file.
#[test]
fn ca_certificates_are_needed_only_for_https() {
    let url = respond_with(SET);
    let dir = TestDir::new();
    dir.write("set", SET);
    for (issuer, keys, expected) in [
        ("https://id.example.com", &*format!("--oauth-keys {url}/keys"), "has 1 usable keys"),
        ("https://id.example.com", "--oauth-keys file:set", "has 1 usable keys"),
        ("https://id.example.com", "", "cannot read the system's CA certificates"),
        (&url, "--oauth-keys https://id.example.com/keys", "cannot read the system's CA certificates"),
        (&url, "", "invalid issuer metadata"),
    ] {
        let options = format!("--oauth-issuer {issuer} --oauth-audience a {keys} --listen 127.0.0.1:0");
        let none = [("SSL_CERT_FILE", "none"), ("SSL_CERT_DIR", "none")];
        let output = dir.run_in(&none, &format!("doctor {options}")).out;
        assert!(output.contains(expected), "{options}: {output}");
    }
}
