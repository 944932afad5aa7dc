//! An issuer that is slow, hangs, or shows a broken set: known tokens go on, and nobody is refused who may be right.

use std::thread;

use crate::issuer::{Issuer, courses, fetched, options, outcome, serve};
use crate::observed::Observed;
use crate::program::{TestDir, get};

/// Tokens that were seen before, of a key that is known, and of one that is not.
fn tokens(issuer: &Issuer, observed: &Observed) -> [String; 3] {
    let tokens = [issuer.token(""), issuer.token("alg=RS256"), issuer.signed("kid=ES256-2")];
    assert_eq!(courses(observed, &tokens[0]), 200);
    tokens
}

#[test]
fn an_issuer_that_is_slow_makes_unknown_keys_alone_wait() {
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
        assert!(!waiting.is_finished(), "the issuer has not answered");
        issuer.signal("CONT");
        assert_eq!(waiting.join().unwrap(), 200);
    });
}

/// All requests wait for the issuer once, for five seconds.
#[test]
fn an_issuer_that_hangs_refuses_nobody() {
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
    assert_eq!(courses(&observed, &unknown), 500, "nothing is fetched for it now");
    assert_eq!(outcome(&observed, "unavailable"), 3.0);
    assert_eq!(observed.metrics()["catalogue_issuer_fetches_total{outcome=\"failure\"}"], 1.0);
    assert!(observed.log().contains("no answer within 5s"), "{}", observed.log());
    issuer.signal("CONT");
}

#[test]
fn a_broken_set_is_a_fetch_that_failed() {
    let dir = TestDir::with_courses();
    let Some(issuer) = Issuer::start(&dir) else { return };
    let set = get(&issuer.name[7..], "/jwks", "").1.to_string();
    dir.write("set.json", &set);
    let observed = Observed::start(&dir, &format!("{} --oauth-keys file:set.json", options(&issuer)));
    fetched(&observed, 1.0);
    let [cached, known, unknown] = tokens(&issuer, &observed);
    for (times, broken) in [r#"{"keys":[]}"#, "<html>", &" ".repeat((256 << 10) + 1)].into_iter().enumerate() {
        dir.write("set.json", broken);
        observed.server.signal("HUP");
        observed.counts("catalogue_issuer_fetches_total{outcome=\"failure\"}", times as f64 + 1.0);
        assert_eq!([&cached, &known].map(|token| courses(&observed, token)), [200, 200], "{broken:.9}");
    }
    assert_eq!(courses(&observed, &unknown), 500);
    dir.write("set.json", &set);
    observed.server.signal("HUP");
    observed.logs("the issuer's keys are fetched again");
    assert_eq!(courses(&observed, &known), 200);
}
