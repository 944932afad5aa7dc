//! Test fixture: a scripted issuer, and a clock that only tests advance.

use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::super::{Introspect, IntrospectedTokens};
use crate::auth::signed::{SignedTokens, SignedTokensBuilder};
use crate::auth::{Authenticator, BearerToken, Identity, Refusal, Verdict};
use crate::storage::{StorageError, StorageErrorKind};
use crate::timestamp::Timestamp;

pub(super) const ISSUER: &str = "https://id.example.com";
pub(super) const AUDIENCE: &str = "https://api.example.com/api/v1";
/// Time at which the clock starts, in seconds since 1970.
pub(super) const NOW: i64 = 1_800_000_000;

#[derive(Clone, Debug)]
pub(super) enum Behavior {
    Responds(String),
    Fails,
    Panics,
    /// Waits until it is released, and then acts by the behavior set in the meantime; fails if none was set.
    Hangs,
}

/// An issuer. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct Issuer(Arc<State>);

#[derive(Debug)]
struct State {
    behavior: Mutex<Behavior>,
    requests: Mutex<Vec<String>>,
    released: Semaphore,
}

impl Issuer {
    pub(super) fn set_behavior(&self, behavior: Behavior) {
        *self.0.behavior.lock().unwrap() = behavior;
    }

    pub(super) fn release(&self, calls: usize) {
        self.0.released.add_permits(calls);
    }

    /// Returns the tokens that were introspected.
    pub(super) fn requests(&self) -> Vec<String> {
        self.0.requests.lock().unwrap().clone()
    }

    fn behavior(&self) -> Behavior {
        self.0.behavior.lock().unwrap().clone()
    }
}

#[async_trait]
impl Introspect for Issuer {
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError> {
        self.0.requests.lock().unwrap().push(token.to_owned());
        if matches!(self.behavior(), Behavior::Hangs) {
            self.0.released.acquire().await.unwrap().forget();
        }
        match self.behavior() {
            Behavior::Responds(response) => Ok(response.into()),
            Behavior::Panics => panic!("as instructed"),
            Behavior::Fails | Behavior::Hangs => Err(StorageError::new(StorageErrorKind::Unavailable, "unreachable")),
        }
    }
}

/// An authenticator, its issuer, and its clock.
pub(super) struct Fixture {
    pub(super) tokens: IntrospectedTokens,
    pub(super) issuer: Issuer,
    passed: Arc<AtomicI64>,
}

impl Fixture {
    /// Creates a fixture whose issuer accepts every token.
    pub(super) fn new() -> Self {
        Self::with(|builder| builder, |tokens| tokens)
    }

    pub(super) fn with(
        rules: impl FnOnce(SignedTokensBuilder) -> SignedTokensBuilder,
        settings: impl FnOnce(IntrospectedTokens) -> IntrospectedTokens,
    ) -> Self {
        let behavior = Mutex::new(Behavior::Responds(valid_response().to_string()));
        let issuer = Issuer(Arc::new(State { behavior, requests: Mutex::default(), released: Semaphore::new(0) }));
        let passed = Arc::<AtomicI64>::default();
        let seconds = Arc::clone(&passed);
        let clock = move || {
            let now = NOW + seconds.load(Ordering::Relaxed);
            Timestamp::from_microseconds(now * 1_000_000).unwrap()
        };
        let signed = rules(SignedTokens::builder(ISSUER, AUDIENCE, Bytes::new()));
        let signed = signed.build_with(clock, Instant::now).unwrap();
        Self { tokens: settings(IntrospectedTokens::of(&signed, issuer.clone())), issuer, passed }
    }

    pub(super) fn advance(&self, seconds: i64) {
        self.passed.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(super) async fn authenticate(&self, token: &str) -> Result<Verdict, StorageError> {
        self.tokens.authenticate(BearerToken::new(token).expect("a bearer token")).await
    }

    /// Returns the verdict, and the outcomes that were counted. The issuer must respond immediately.
    pub(super) fn verdict_and_outcomes(&self, token: &str) -> (Result<Verdict, StorageError>, Vec<&'static str>) {
        let before: Vec<_> = self.tokens.outcomes().collect();
        let verdict = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(self.authenticate(token));
        let after = self.tokens.outcomes().zip(before).filter(|((_, after), (_, before))| after != before);
        (verdict, after.map(|((outcome, _), _)| outcome).collect())
    }

    /// Returns the identity of the token, which must be accepted and counted under `outcome`.
    #[track_caller]
    pub(super) fn accepts(&self, token: &str, outcome: &str) -> Identity {
        match self.verdict_and_outcomes(token) {
            (Ok(Verdict::Accepted(identity)), outcomes) if outcomes == [outcome] => identity,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the identity of a token for which the issuer responds with `response`.
    #[track_caller]
    pub(super) fn accepts_response(&self, response: &Value) -> Identity {
        self.issuer.set_behavior(Behavior::Responds(response.to_string()));
        self.accepts("opaque", "accepted")
    }

    /// Checks that a token is refused if the issuer responds with `response`. An empty `description` means none.
    #[track_caller]
    pub(super) fn refuses(&self, response: &str, outcome: &str, description: &str) {
        self.issuer.set_behavior(Behavior::Responds(response.to_owned()));
        let (verdict, outcomes) = self.verdict_and_outcomes("opaque");
        let Ok(Verdict::Refused(refusal, Some(explanation))) = verdict else { panic!("{response}: {verdict:?}") };
        assert_eq!((refusal, explanation.code, &*outcomes), (Refusal::Invalid, outcome, &[outcome][..]), "{response}");
        assert_eq!(explanation.description.unwrap_or_default(), description, "{response}");
    }

    /// Checks that authentication fails, with `why` among the causes.
    #[track_caller]
    pub(super) fn fails(&self, behavior: Behavior, why: &str) {
        self.issuer.set_behavior(behavior);
        let (verdict, outcomes) = self.verdict_and_outcomes("opaque");
        let error = verdict.unwrap_err();
        assert_eq!((error.kind(), &*outcomes), (StorageErrorKind::Unavailable, &["unavailable"][..]));
        let chain = crate::chain::chain(&error);
        assert!(chain.contains(why) && !chain.contains("opaque"), "{chain}");
    }
}

/// Polls `future` once, without a runtime.
pub(super) fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the introspection response for a valid token.
pub(super) fn valid_response() -> Value {
    json!({
        "active": true, "iss": ISSUER, "aud": AUDIENCE, "sub": "acc_1", "client_id": "partner",
        "exp": NOW + 300, "scope": "read:courses openid", "token_type": "Bearer",
    })
}

/// Like [`valid_response`], with the members of `other`; null removes a member.
pub(super) fn valid_response_with(other: &Value) -> Value {
    let mut response = valid_response();
    let members = response.as_object_mut().unwrap();
    for (name, value) in other.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
        if value.is_null() {
            members.remove(name);
        }
    }
    response
}
