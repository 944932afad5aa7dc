//! Tokens that are asked about beside an issuer that takes its key back and publishes it again, and beside revocations, by
//! many schedules.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use catalogue_interleavings::{block_on, explore, point, thread};
use http::Request;
use serde_json::json;

use super::fixture::{Answer, ES384, Fixture, NOW, every_key, set_of, with_claims};
use crate::Catalogue;
use crate::admin::AdminStorage as _;
use crate::auth::{BearerToken, Verdict};
use crate::storage::MemoryStorage;
use crate::timestamp::Timestamp;

/// The key is in the sets of the even versions. Where a refresh has ended, what was published before it began is in use.
#[test]
fn a_key_that_comes_and_goes() {
    let (token, other) = (with_claims(&json!({})), ES384.token(&ES384.header(), &super::fixture::claims()));
    let [with, without] = [every_key(), set_of(&[&ES384])];
    explore(300, move || {
        let fixture = Arc::new(Fixture::new());
        block_on(fixture.tokens.refresh());
        let versions = Arc::new([const { AtomicU64::new(0) }; 2]);
        let asking = (0..3).map(|number| {
            let (fixture, versions) = (Arc::clone(&fixture), Arc::clone(&versions));
            let token = if number == 2 { other.clone() } else { token.clone() };
            thread::spawn(move || {
                let [begun, refreshed] = &*versions;
                for _ in 0..3 {
                    let at_least = refreshed.load(Ordering::SeqCst);
                    let verdict = block_on(fixture.ask(&token)).unwrap();
                    let mut range = at_least..=begun.load(Ordering::SeqCst);
                    let is_refused = u64::from(!matches!(verdict, Verdict::Accepted(_)));
                    if number == 2 {
                        assert_eq!(is_refused, 0, "its key is there all along: {verdict:?}");
                    } else {
                        assert!(range.any(|version| version % 2 == is_refused), "{verdict:?} after {at_least}");
                    }
                }
            })
        });
        let mut threads: Vec<_> = asking.collect();
        let sets = [without.clone(), with.clone(), without.clone()];
        threads.push(thread::spawn(move || {
            for (set, version) in sets.into_iter().zip(1..) {
                versions[0].store(version, Ordering::SeqCst);
                point();
                fixture.source.answer(Answer::Set(set));
                point();
                fixture.forward(Duration::from_millis(1));
                block_on(fixture.tokens.refresh());
                versions[1].store(version, Ordering::SeqCst);
            }
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// The token is kept by then, or is being verified.
#[test]
fn a_token_that_is_revoked() {
    let (fixture, memory) = (Fixture::with(|builder| builder.kept_tokens(2)), MemoryStorage::new());
    let builder = Catalogue::with_api_keys(memory.clone()).or_authenticator(fixture.tokens.clone());
    let (catalogue, number) = (builder.build().unwrap(), AtomicU64::new(0));
    explore(100, move || {
        let token = with_claims(&json!({ "jti": number.fetch_add(1, Ordering::SeqCst) }));
        let digest = BearerToken::new(&token).unwrap().digest();
        let is_revoked = Arc::new(AtomicBool::new(false));
        let asking = (0..2).map(|_| {
            let (catalogue, token, is_revoked) = (catalogue.clone(), token.clone(), Arc::clone(&is_revoked));
            thread::spawn(move || {
                for _ in 0..3 {
                    let was_revoked = is_revoked.load(Ordering::SeqCst);
                    let request = Request::get("/api/v1/me").header("authorization", format!("Bearer {token}"));
                    let status = block_on(catalogue.call(request.body(()).unwrap())).status();
                    assert!(
                        status == 401 || (status == 200 && !was_revoked),
                        "{status}, revoked before: {was_revoked}"
                    );
                }
            })
        });
        let mut threads: Vec<_> = asking.collect();
        let memory = memory.clone();
        threads.push(thread::spawn(move || {
            block_on(memory.revoke_tokens(&[digest], Timestamp::MAX, second(NOW))).unwrap();
            is_revoked.store(true, Ordering::SeqCst);
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

fn second(second: i64) -> Timestamp {
    Timestamp::from_microseconds(second * 1_000_000).unwrap()
}
