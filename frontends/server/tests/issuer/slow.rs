//! An issuer that is slow, hangs or publishes a malformed key set: known keys still work, and no valid token gets a 401.

use std::thread;

use crate::issuer::{Issuer, courses, options, outcome_count, serve, wait_for_fetches};
use crate::observed::Observed;
use crate::program::{TestDir, get};

/// Returns a cached token, a new token of a known key, and a token of an unknown key.
fn tokens(issuer: &Issuer, observed: &Observed) -> [String; 3] {
    let tokens = [issuer.token(""), issuer.token("alg=RS256"), issuer.signed("kid=ES256-2")];
    assert_eq!(courses(observed, &tokens[0]), 200);
    tokens
}

#[test]
fn slow_issuer_delays_only_unknown_keys() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let [cached, known, unknown] = tokens(&issuer, &observed);
    issuer.publish("ES256-1,ES256-2,RS256-1");
    issuer.signal("STOP");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| courses(&observed, &unknown));
        for _ in 0..20 {
            assert_eq!([&cached, &known].map(|token| courses(&observed, token)), [200, 200]);
        }
        assert!(!waiting.is_finished(), "the issuer has not responded");
        issuer.signal("CONT");
        assert_eq!(waiting.join().unwrap(), 200);
    });
}

/// Concurrent requests share one fetch, which times out after five seconds.
#[test]
fn unresponsive_issuer_returns_500_only_for_unknown_keys() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let observed = serve(&dir, &issuer);
    let [cached, known, unknown] = tokens(&issuer, &observed);
    let other = issuer.signed("kid=ES256-3");
    issuer.signal("STOP");
    thread::scope(|scope| {
        let waiting = [&unknown, &other].map(|token| scope.spawn(|| courses(&observed, token)));
        assert_eq!([&cached, &known].map(|token| courses(&observed, token)), [200, 200]);
        assert_eq!(waiting.map(|one| one.join().unwrap()), [500, 500]);
    });
    assert_eq!(courses(&observed, &unknown), 500, "the next fetch is not due yet");
    assert_eq!(outcome_count(&observed, "unavailable"), 3.0);
    assert_eq!(observed.metrics()["catalogue_issuer_fetches_total{outcome=\"failure\"}"], 1.0);
    assert!(observed.log().contains("no response within 5s"), "{}", observed.log());
    issuer.signal("CONT");
}

#[test]
fn malformed_key_set_counts_as_failed_fetch() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let set = get(&issuer.name[7..], "/jwks", "").1.to_string();
    dir.write("set.json", &set);
    let observed = Observed::start(&dir, &format!("{} --oauth-keys file:set.json", options(&issuer)));
    wait_for_fetches(&observed, 1.0);
    let [cached, known, unknown] = tokens(&issuer, &observed);
    for (times, malformed) in [r#"{"keys":[]}"#, "<html>", &" ".repeat((256 << 10) + 1)].into_iter().enumerate() {
        dir.write("set.json", malformed);
        observed.server.signal("HUP");
        observed.wait_for_metric("catalogue_issuer_fetches_total{outcome=\"failure\"}", times as f64 + 1.0);
        assert_eq!([&cached, &known].map(|token| courses(&observed, token)), [200, 200], "{malformed:.9}");
    }
    assert_eq!(courses(&observed, &unknown), 500);
    dir.write("set.json", &set);
    observed.server.signal("HUP");
    observed.wait_for_log("fetching the issuer's keys works again");
    assert_eq!(courses(&observed, &known), 200);
}
