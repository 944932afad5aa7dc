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
/// The current time, in seconds since 1970.
pub(super) const NOW: i64 = 1_800_000_000;

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Says(String),
    Away,
    Panics,
    /// Waits until it is released, and then responds as configured by then.
    Hangs,
}

/// An issuer. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct Issuer(Arc<State>);

#[derive(Debug)]
struct State {
    answer: Mutex<Answer>,
    asked: Mutex<Vec<String>>,
    released: Semaphore,
}

impl Issuer {
    pub(super) fn answer(&self, answer: Answer) {
        *self.0.answer.lock().unwrap() = answer;
    }

    pub(super) fn release(&self, calls: usize) {
        self.0.released.add_permits(calls);
    }

    /// Returns the tokens that were introspected.
    pub(super) fn asked(&self) -> Vec<String> {
        self.0.asked.lock().unwrap().clone()
    }

    fn told(&self) -> Answer {
        self.0.answer.lock().unwrap().clone()
    }
}

#[async_trait]
impl Introspect for Issuer {
    async fn introspect(&self, token: &str) -> Result<Bytes, StorageError> {
        self.0.asked.lock().unwrap().push(token.to_owned());
        if matches!(self.told(), Answer::Hangs) {
            self.0.released.acquire().await.unwrap().forget();
        }
        match self.told() {
            Answer::Says(answer) => Ok(answer.into()),
            Answer::Panics => panic!("as it was told"),
            Answer::Away | Answer::Hangs => Err(StorageError::new(StorageErrorKind::Unavailable, "away")),
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
        let answer = Mutex::new(Answer::Says(right().to_string()));
        let issuer = Issuer(Arc::new(State { answer, asked: Mutex::default(), released: Semaphore::new(0) }));
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

    pub(super) fn forward(&self, seconds: i64) {
        self.passed.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(super) async fn ask(&self, token: &str) -> Result<Verdict, StorageError> {
        self.tokens.authenticate(BearerToken::new(token).expect("a bearer token")).await
    }

    /// Returns the verdict, for an issuer that responds immediately, and the words that were counted.
    pub(super) fn counted(&self, token: &str) -> (Result<Verdict, StorageError>, Vec<&'static str>) {
        let before: Vec<_> = self.tokens.outcomes().collect();
        let verdict = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(self.ask(token));
        let after = self.tokens.outcomes().zip(before).filter(|((_, after), (_, before))| after != before);
        (verdict, after.map(|((word, _), _)| word).collect())
    }

    /// Returns the identity of the token, which must be accepted and counted under `word`.
    #[track_caller]
    pub(super) fn takes(&self, token: &str, word: &str) -> Identity {
        match self.counted(token) {
            (Ok(Verdict::Accepted(identity)), counted) if counted == [word] => identity,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the identity of a token for which the issuer responds with `answer`.
    #[track_caller]
    pub(super) fn takes_one_that_is(&self, answer: &Value) -> Identity {
        self.issuer.answer(Answer::Says(answer.to_string()));
        self.takes("opaque", "accepted")
    }

    /// Checks that a token is refused if the issuer responds with `answer`. `told` is the description, empty for none.
    #[track_caller]
    pub(super) fn refuses(&self, answer: &str, word: &str, told: &str) {
        self.issuer.answer(Answer::Says(answer.to_owned()));
        let (verdict, counted) = self.counted("opaque");
        let Ok(Verdict::Explained(refusal, explanation)) = verdict else { panic!("{answer}: {verdict:?}") };
        assert_eq!((refusal, explanation.word, &*counted), (Refusal::Invalid, word, &[word][..]), "{answer}");
        assert_eq!(explanation.description.unwrap_or_default(), told, "{answer}");
    }

    /// Checks that authentication fails because of `why`.
    #[track_caller]
    pub(super) fn cannot_tell(&self, answer: Answer, why: &str) {
        self.issuer.answer(answer);
        let (verdict, counted) = self.counted("opaque");
        let error = verdict.unwrap_err();
        assert_eq!((error.kind(), &*counted), (StorageErrorKind::Unavailable, &["unavailable"][..]));
        let chain = crate::chain::chain(&error);
        assert!(chain.contains(why) && !chain.contains("opaque"), "{chain}");
    }
}

/// Polls `future` once, without a runtime.
pub(super) fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Returns the introspection response for a valid token.
pub(super) fn right() -> Value {
    json!({
        "active": true, "iss": ISSUER, "aud": AUDIENCE, "sub": "acc_1", "client_id": "partner",
        "exp": NOW + 300, "scope": "read:courses openid", "token_type": "Bearer",
    })
}

/// Like [`right`], with the members of `other`; null removes a member.
pub(super) fn right_but(other: &Value) -> Value {
    let mut answer = right();
    let members = answer.as_object_mut().unwrap();
    for (name, value) in other.as_object().unwrap() {
        members.insert(name.clone(), value.clone());
        if value.is_null() {
            members.remove(name);
        }
    }
    answer
}
