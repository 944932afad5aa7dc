//! Opaque access tokens of an authorization server, validated by token introspection (RFC 7662; decisions O35 to O38).
//!
//! ```
//! use bytes::Bytes;
//! use catalogue_core::auth::introspected::{Introspect, IntrospectedTokens};
//! use catalogue_core::auth::signed::SignedTokens;
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_core::{BuildError, Catalogue};
//!
//! fn catalogue(issuer: impl Introspect, key_set: Bytes) -> Result<Catalogue, BuildError> {
//!     let signed = SignedTokens::builder("https://id.example.com", "https://api.example.com/api/v1", key_set).build()?;
//!     let opaque = IntrospectedTokens::of(&signed, issuer);
//!     // `opaque` comes last: it introspects every token that the others do not recognize.
//!     Catalogue::with_api_keys(MemoryStorage::new()).or_authenticator(signed).or_authenticator(opaque).build()
//! }
//! ```

mod introspect;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quick_cache::sync::Cache;
use serde_json::Value;

pub use introspect::Introspect;

use super::authenticator::{Authenticator, Refusal, Verdict};
use super::bearer::BearerToken;
use super::signed::{self, Clock, JsonObject, Outcome, Outcomes, Rules, SignedTokens};
use crate::in_flight::InFlight;
use crate::model::{CredentialKind, Identity, Issued, TokenDigest};
use crate::panic_guard::catch_panic;
use crate::storage::{StorageError, StorageErrorKind};
use crate::timestamp::Timestamp;

/// Maximum number of concurrent introspections.
const MAX_CONCURRENT: usize = 64;
/// Maximum time for which an accepted token is cached.
const MAX_CACHE_TTL: Duration = Duration::from_secs(60);
/// Members that may name the kind of token, with the values for an access token. Issuers also report refresh tokens as
/// active (RFC 7662 section 2.1), and tokens that are bound to their sender.
const ACCESS_TOKENS: [(&str, &[&str]); 3] = [
    // Ory Hydra and Amazon Cognito.
    ("token_use", &["access_token", "access"]),
    // OpenIddict.
    ("token_usage", &["access_token"]),
    ("token_type", &["Bearer"]),
];
/// Capacity of the cache of accepted tokens; about 5 MB.
const CACHE_CAPACITY: usize = 10_000;

/// Authenticator for the opaque access tokens of one issuer, by introspection. Concurrent requests with the same token
/// share one call.
///
/// Put it last: it leaves only API keys, the catalogue's own tokens (`cato_…`) and texts of the form of a signed token to
/// other authenticators. With a rate limit, unknown tokens are counted by client address before the issuer is called
/// (decision A2); without a rate limit, any client can cause calls of the issuer.
pub struct IntrospectedTokens {
    issuer: Arc<str>,
    rules: Rules,
    introspect: Box<dyn Introspect>,
    in_flight: InFlight,
    /// Always empty. Used only for its per-key guard, which makes concurrent requests with the same token wait.
    pending: Cache<TokenDigest, SharedResult>,
    cache_ttl: Duration,
    cache: Cache<TokenDigest, CachedToken>,
    outcomes: Outcomes,
    clock: Clock,
}

/// Identity and expiry of a token, or why it is refused.
type Introspected = Result<(Identity, Timestamp), Outcome>;
/// Result for the waiters; `None` if the introspection failed.
type SharedResult = Option<Introspected>;

/// An accepted token, and the time range in which it is valid without another introspection.
#[derive(Clone, Debug)]
struct CachedToken {
    identity: Identity,
    validity: Range<Timestamp>,
}

impl IntrospectedTokens {
    /// Creates an authenticator for the opaque tokens of the issuer of `signed`, checked against the same audience, account
    /// claim and scopes. For an issuer without signed tokens, build `signed` with an empty key set (no bytes), and do not
    /// add it to the catalogue: then no keys are fetched.
    pub fn of(signed: &SignedTokens, introspect: impl Introspect) -> Self {
        let (issuer, rules, clock) = signed.parts();
        Self {
            issuer,
            rules,
            introspect: Box::new(introspect),
            in_flight: InFlight::new(MAX_CONCURRENT),
            pending: Cache::new(MAX_CONCURRENT),
            cache_ttl: Duration::ZERO,
            cache: Cache::new(CACHE_CAPACITY),
            outcomes: Outcomes::default(),
            clock,
        }
    }

    /// Caches accepted tokens for `duration`, at most 60 seconds and never past their expiry. A revocation at the issuer
    /// takes effect up to `duration` later. Default: no caching.
    #[must_use]
    pub fn cache_for(mut self, duration: Duration) -> Self {
        self.cache_ttl = duration.min(MAX_CACHE_TTL);
        self
    }

    /// Returns the count of each outcome by its code (decision O32). Outcomes that apply only to signed tokens stay 0.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.outcomes.all()
    }

    /// Introspects a token. Concurrent requests with the same token share one call (single flight).
    async fn introspect_shared(&self, text: &str, digest: &TokenDigest) -> Result<Introspected, StorageError> {
        let guard = match self.pending.get_value_or_guard_async(digest).await {
            Ok(result) => {
                return result
                    .ok_or_else(|| unavailable("the request that introspected this token failed; see its log line"));
            }
            Err(guard) => guard,
        };
        // Catch a panic: otherwise each waiter would take over, one after the other, and panic too.
        let outcome = catch_panic(pin!(self.introspect_and_cache(text, digest))).await;
        let result = outcome.unwrap_or_else(|panicked| Err(unavailable(panicked)));
        // Remove the entry first: the current waiters still get the result, but later requests do not.
        self.pending.remove(digest);
        let _ = guard.insert(result.as_ref().ok().cloned());
        result
    }

    async fn introspect_and_cache(&self, text: &str, digest: &TokenDigest) -> Result<Introspected, StorageError> {
        let started_at = (self.clock)();
        let Some(_permit) = self.in_flight.enter() else {
            return Err(unavailable(format!("{MAX_CONCURRENT} introspections are already in progress")));
        };
        let response = self.introspect.introspect(text).await.map_err(unavailable)?;
        let object = JsonObject::parse(&response).ok_or_else(|| unavailable("the response is not a JSON object"))?;
        match object.get("active") {
            Ok(Some(Value::Bool(true))) => {}
            Ok(Some(Value::Bool(false))) => return Ok(Err(Outcome::Inactive)),
            _ => return Err(unavailable("the response has no boolean `active`")),
        }
        let result = self.evaluate(&object, digest);
        if let Ok((identity, expires)) = &result
            && let Some(end) = started_at.checked_add(self.cache_ttl).filter(|_| !self.cache_ttl.is_zero())
        {
            let validity = started_at..end.min(*expires);
            self.cache.insert(*digest, CachedToken { identity: identity.clone(), validity });
        }
        Ok(result)
    }

    /// Returns what an active token grants.
    fn evaluate(&self, object: &JsonObject, digest: &TokenDigest) -> Introspected {
        if object.get("iss")?.is_some_and(|issuer| issuer != *self.issuer) {
            return Err(Outcome::Issuer);
        }
        for (member, kinds) in ACCESS_TOKENS {
            let is_access_token = |text: &str| kinds.iter().any(|kind| text.eq_ignore_ascii_case(kind));
            if object.get(member)?.is_some_and(|kind| !kind.as_str().is_some_and(is_access_token)) {
                return Err(Outcome::Typ);
            }
        }
        let grant = self.rules.grant(object, false, (self.clock)())?;
        let issued = Issued::new(Arc::clone(&self.issuer), grant.client);
        Ok((Identity::issued(grant.account, digest, grant.scopes, issued), grant.expires))
    }
}

/// Returns whether the text is for other authenticators: `ccat_…`, `cato_…` and signed tokens.
fn is_for_another_authenticator(text: &str) -> bool {
    CredentialKind::ALL.iter().any(|kind| text.starts_with(kind.token_prefix())) || signed::looks_like_jwt(text)
}

fn unavailable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StorageError {
    StorageError::new(StorageErrorKind::Unavailable, "cannot introspect a token now").with_source(why)
}

#[async_trait]
impl Authenticator for IntrospectedTokens {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        let text = token.expose();
        if is_for_another_authenticator(text) {
            return Ok(Verdict::Unrecognized);
        }
        let (digest, now) = (token.digest(), (self.clock)());
        if let Some(cached) = self.cache.get(&digest).filter(|cached| cached.validity.contains(&now)) {
            self.outcomes.count(Outcome::Cached);
            return Ok(Verdict::Accepted(cached.identity));
        }
        let is_too_long = text.len() > signed::MAX_BYTES;
        let result = if is_too_long { Ok(Err(Outcome::Length)) } else { self.introspect_shared(text, &digest).await };
        let (outcome, verdict) = match result {
            Ok(Ok((identity, _))) => (Outcome::Accepted, Ok(Verdict::Accepted(identity))),
            Ok(Err(outcome)) => (outcome, Ok(Verdict::Refused(Refusal::Invalid, Some(outcome.explanation())))),
            Err(error) => (Outcome::Unavailable, Err(error)),
        };
        self.outcomes.count(outcome);
        verdict
    }
}

impl fmt::Debug for IntrospectedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectedTokens")
            .field("issuer", &self.issuer)
            .field("rules", &self.rules)
            .field("introspect", &self.introspect)
            .field("cache_ttl", &self.cache_ttl)
            .finish_non_exhaustive()
    }
}
