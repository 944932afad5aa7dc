//! Key rotation, sources of keys, unavailable issuers, and private keys in a key set.

use serde_json::json;

use crate::issuer::{Issuer, courses, options, outcome_count, serve, wait_for_fetches};
use crate::observed::Observed;
use crate::program::TestDir;

#[test]
fn valid_tokens_are_accepted_across_key_rotation() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
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
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
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
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
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
fn metadata_of_another_issuer_are_rejected() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let other = issuer.name.replace("127.0.0.1", "localhost");
    let observed = Observed::start(&dir, &format!("--oauth-issuer {other} --oauth-audience a"));
    observed.wait_for_log("the metadata name the issuer");
    // Tokens of the configured issuer cannot be verified; tokens of other issuers are refused.
    let other_token = issuer.signed(&format!("claims=%7B%22iss%22:%22{other}%22%7D"));
    assert_eq!([courses(&observed, &other_token), courses(&observed, &issuer.token(""))], [500, 401]);
}

#[test]
fn keys_can_come_from_url_or_file() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let set = crate::program::get(&issuer.name[7..], "/jwks", "").1;
    dir.write("set.json", set.to_string());
    for source in [format!("{}/jwks", issuer.name), "file:set.json".to_owned()] {
        let observed = Observed::start(&dir, &format!("{} --oauth-keys {source}", options(&issuer)));
        assert_eq!(courses(&observed, &issuer.token("")), 200, "{source}");
    }
}

/// A signal wakes the background task, which retries after a failure.
#[test]
fn failed_refresh_by_signal_is_retried() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    issuer.stop();
    observed.server.signal("HUP");
    observed.wait_for_log("cannot fetch the issuer's keys");
    issuer.start_again();
    wait_for_fetches(&observed, 2.0);
}

#[test]
fn private_key_in_key_set_gets_warning() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let mut set = crate::program::get(&issuer.name[7..], "/jwks", "").1;
    dir.write("set.json", set.to_string());
    let observed = Observed::start(&dir, &format!("{} --oauth-keys file:set.json", options(&issuer)));
    wait_for_fetches(&observed, 1.0);
    set["keys"].as_array_mut().unwrap().push(json!({ "kty": "OKP", "crv": "Ed25519", "kid": "shown", "d": "hunter2" }));
    dir.write("set.json", set.to_string());
    observed.server.signal("HUP");
    observed.wait_for_log("exposes a private key");
    let log = observed.stop_and_read_log();
    assert!(log.contains("shown") && !log.contains("hunter2"), "{log}");
}
