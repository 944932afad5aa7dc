//! The issuer's keys: when they change, and when it is away.

use serde_json::json;

use crate::issuer::{Issuer, courses, fetched, options, outcome, serve};
use crate::observed::Observed;
use crate::program::TestDir;

#[test]
fn keys_are_rotated_without_a_refusal() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let old = issuer.token("");
    assert_eq!(courses(&observed, &old), 200);
    // Published and used at once: the first token makes the server fetch.
    issuer.publish("ES256-2,ES256-1");
    let new = issuer.token("");
    assert_eq!([courses(&observed, &new), courses(&observed, &old)], [200, 200]);
    observed.logs("added=[\"ES256-2\"]");
    assert_eq!(observed.metrics()["catalogue_issuer_fetches_total{outcome=\"success\"}"], 2.0);
    // Gone from the set, and with the next fetch also for tokens that were kept.
    issuer.publish("ES256-2");
    observed.server.signal("HUP");
    fetched(&observed, 3.0);
    assert_eq!([courses(&observed, &new), courses(&observed, &old)], [200, 401]);
}

#[test]
fn an_issuer_that_is_away_stops_no_known_token_and_is_noted_once() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let key = dir.run("keys create --account a --name n --scope read:courses").succeeds();
    let (cached, known, unknown) = (issuer.token(""), issuer.token("alg=RS256"), issuer.signed("kid=ES256-2"));
    assert_eq!(courses(&observed, &cached), 200);
    issuer.stop();
    assert_eq!([&cached, &known, &unknown].map(|token| courses(&observed, token)), [200, 200, 500]);
    assert_eq!(outcome(&observed, "unavailable"), 1.0);
    assert_eq!(courses(&observed, key.trim_end()), 200);
    observed.server.signal("HUP");
    observed.counts("catalogue_issuer_fetches_total{outcome=\"failure\"}", 2.0);

    issuer.start_again();
    issuer.publish("ES256-1,ES256-2");
    observed.server.signal("HUP");
    observed.logs("the issuer's keys are fetched again");
    assert_eq!([&cached, &unknown].map(|token| courses(&observed, token)), [200, 200]);
    let log = observed.ended_log();
    assert_eq!(log.lines().filter(|line| line.contains("the issuer's keys cannot be fetched")).count(), 1, "{log}");
    assert!(log.contains("refused") || log.contains("onnect"), "the log says why: {log}");
}

#[test]
fn the_start_does_not_wait_for_an_issuer() {
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
    fetched(&observed, 1.0);
    assert_eq!(courses(&observed, &token), 200);
}

#[test]
fn metadata_of_another_issuer_give_no_keys() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let other = issuer.name.replace("127.0.0.1", "localhost");
    let observed = Observed::start(&dir, &format!("--oauth-issuer {other} --oauth-audience a"));
    observed.logs("the metadata are of the issuer");
    // Tokens of that issuer cannot be told; those of others are nobody's.
    let theirs = issuer.signed(&format!("claims=%7B%22iss%22:%22{other}%22%7D"));
    assert_eq!([courses(&observed, &theirs), courses(&observed, &issuer.token(""))], [500, 401]);
}

#[test]
fn keys_can_be_named_or_be_in_a_file() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let set = crate::program::get(&issuer.name[7..], "/jwks", "").1;
    dir.write("set.json", set.to_string());
    for source in [format!("{}/jwks", issuer.name), "file:set.json".to_owned()] {
        let observed = Observed::start(&dir, &format!("{} --oauth-keys {source}", options(&issuer)));
        assert_eq!(courses(&observed, &issuer.token("")), 200, "{source}");
    }
}

/// A signal is the task's: after a failure that one tries again by itself.
#[test]
fn a_signal_while_the_issuer_is_away_is_made_up_for() {
    let dir = TestDir::with_courses();
    let Some(mut issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    issuer.stop();
    observed.server.signal("HUP");
    observed.logs("the issuer's keys cannot be fetched");
    issuer.start_again();
    fetched(&observed, 2.0);
}

#[test]
fn a_private_key_is_warned_of() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let mut set = crate::program::get(&issuer.name[7..], "/jwks", "").1;
    dir.write("set.json", set.to_string());
    let observed = Observed::start(&dir, &format!("{} --oauth-keys file:set.json", options(&issuer)));
    fetched(&observed, 1.0);
    set["keys"].as_array_mut().unwrap().push(json!({ "kty": "OKP", "crv": "Ed25519", "kid": "shown", "d": "hunter2" }));
    dir.write("set.json", set.to_string());
    observed.server.signal("HUP");
    observed.logs("shows a private key");
    let log = observed.ended_log();
    assert!(log.contains("shown") && !log.contains("hunter2"), "{log}");
}
