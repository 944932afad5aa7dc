//! Tokens that are asked about beside an issuer that takes its key back and publishes it again, and beside revocations, by
//! many schedules.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use catalogue_interleavings::{block_on, explore, point, thread};
use http::Request;
use serde_json::json;

use super::fixture::{Answer, ES384, Fixture, NOW, claims, every_key, set_of, with_claims};
use crate::Catalogue;
use crate::admin::AdminStorage as _;
use crate::auth::{BearerToken, Verdict};
use crate::storage::MemoryStorage;
use crate::timestamp::Timestamp;

/// An issuer's set, which has the key in even versions.
struct Rotated {
    fixture: Fixture,
    token: String,
    /// The one that was published last, and the one that is in use at least.
    published: AtomicU64,
    in_use: AtomicU64,
}

impl Rotated {
    fn ask(&self) {
        let at_least = self.in_use.load(Ordering::SeqCst);
        let verdict = block_on(self.fixture.ask(&self.token)).unwrap();
        let is_refused = u64::from(!matches!(verdict, Verdict::Accepted(_)));
        let mut versions = at_least..=self.published.load(Ordering::SeqCst);
        assert!(versions.any(|version| version % 2 == is_refused), "{verdict:?} after {at_least}");
    }

    /// Where a refresh has ended, what was published before it began is in use.
    fn publish(&self, version: u64, set: &Bytes) {
        self.published.store(version, Ordering::SeqCst);
        point();
        self.fixture.source.answer(Answer::Set(set.clone()));
        point();
        self.fixture.forward(Duration::from_millis(1));
        block_on(self.fixture.tokens.refresh());
        self.in_use.store(version, Ordering::SeqCst);
        point();
    }
}

#[test]
fn a_key_that_comes_and_goes() {
    let (token, other) = (with_claims(&json!({})), ES384.token(&ES384.header(), &claims()));
    let [with, without] = [every_key(), set_of(&[&ES384])];
    explore(300, move || {
        let (published, in_use) = Default::default();
        let rotated = Arc::new(Rotated { fixture: Fixture::new(), token: token.clone(), published, in_use });
        block_on(rotated.fixture.tokens.refresh());
        let asking = (0..3).map(|number| {
            let (rotated, other) = (Arc::clone(&rotated), other.clone());
            thread::spawn(move || {
                for _ in 0..5 {
                    if number > 0 {
                        rotated.ask();
                    } else {
                        // Its key is there all along.
                        let verdict = block_on(rotated.fixture.ask(&other));
                        assert!(matches!(verdict, Ok(Verdict::Accepted(_))), "{verdict:?}");
                    }
                }
            })
        });
        let mut threads: Vec<_> = asking.collect();
        let (publishing, sets) = (Arc::clone(&rotated), [without.clone(), with.clone(), without.clone()]);
        threads.push(thread::spawn(move || {
            sets.iter().zip(1..).for_each(|(set, version)| publishing.publish(version, set));
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        rotated.ask();
    });
}

/// Who comes while a fetch is under way, or finds at its end what is there by now, causes no other.
#[test]
fn a_set_that_is_fetched_once_for_all_who_want_the_first() {
    let token = with_claims(&json!({}));
    explore(300, move || {
        let fixture = Arc::new(Fixture::new());
        let asking = (0..3).map(|_| {
            let (fixture, token) = (Arc::clone(&fixture), token.clone());
            thread::spawn(move || {
                let verdict = block_on(fixture.ask(&token));
                assert!(matches!(verdict, Ok(Verdict::Accepted(_))), "{verdict:?}");
            })
        });
        let threads: Vec<_> = asking.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(fixture.source.fetches(), 1);
    });
}

/// The token is kept by then, or is being verified.
#[test]
fn a_token_that_is_revoked() {
    let (fixture, memory) = (Fixture::with(|builder| builder.kept_tokens(2)), MemoryStorage::new());
    let builder = Catalogue::with_api_keys(memory.clone()).or_authenticator(fixture.tokens.clone());
    let (catalogue, number) = (builder.build().unwrap(), AtomicU64::new(0));
    explore(100, move || {
        let token = with_claims(&json!({ "jti": number.fetch_add(1, Ordering::SeqCst).to_string() }));
        let digest = BearerToken::new(&token).unwrap().digest();
        let [begun, revoked] = [0; 2].map(|_| Arc::new(AtomicBool::new(false)));
        let ask = {
            let (catalogue, begun, revoked) = (catalogue.clone(), Arc::clone(&begun), Arc::clone(&revoked));
            move || {
                let was_revoked = revoked.load(Ordering::SeqCst);
                let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
                let response = block_on(catalogue.call(request.body(()).unwrap()));
                let expected = [(200, !was_revoked), (401, begun.load(Ordering::SeqCst))];
                let is_right = expected.iter().any(|(status, may_be)| response.status() == *status && *may_be);
                assert!(is_right, "revoked before: {was_revoked}, {response:?}");
            }
        };
        let asking = (0..2).map(|_| {
            let ask = ask.clone();
            thread::spawn(move || (0..3).for_each(|_| ask()))
        });
        let mut threads: Vec<_> = asking.collect();
        let memory = memory.clone();
        threads.push(thread::spawn(move || {
            begun.store(true, Ordering::SeqCst);
            point();
            block_on(memory.revoke_tokens(&[digest], Timestamp::MAX, second(NOW))).unwrap();
            revoked.store(true, Ordering::SeqCst);
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        ask();
    });
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_microseconds(second * 1_000_000).unwrap()
}
