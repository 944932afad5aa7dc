//! Signed access tokens of an authorization server (RFC 9068), checked against its public keys (decisions O6 to O26, O28 and O29).
//!
//! ```
//! use bytes::Bytes;
//! use catalogue_core::auth::signed::SignedTokens;
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_core::Catalogue;
//!
//! let key_set = Bytes::from_static(br#"{"keys":[]}"#); // constant; implement `FetchKeys` to fetch it
//! let tokens = SignedTokens::builder("https://id.example.com", "https://api.example.com/api/v1", key_set)
//!     .account_claim("account")
//!     .build()?;
//! let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).or_authenticator(tokens.clone()).build()?;
//! # Ok::<(), catalogue_core::BuildError>(())
//! ```

mod algorithm;
mod builder;
mod claims;
mod fetch;
mod json_object;
mod key_set;
mod keys;
mod outcome;
mod revocation;
#[cfg(test)]
pub(super) mod tests;
mod token;
mod unverified;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quick_cache::sync::Cache;

pub use algorithm::SignatureAlgorithm;
pub use builder::{SignedTokensBuilder, TokenType};
pub(super) use claims::Rules;
pub use fetch::FetchKeys;
pub(super) use json_object::JsonObject;
pub use keys::KeysStatus;
use outcome::Rejection;
pub(super) use outcome::{Outcome, Outcomes};
pub use revocation::Revocation;
pub(super) use token::MAX_BYTES;
pub(crate) use token::looks_like_jwt;
pub use unverified::UnverifiedToken;

use super::authenticator::{Authenticator, Verdict};
use super::bearer::BearerToken;
use crate::model::{Identity, Issued, TokenDigest};
use crate::storage::StorageError;
use crate::timestamp::Timestamp;
use key_set::KeyId;
use keys::Keys;
use token::SignedToken;

/// Authenticator for the signed access tokens of one issuer; use one per issuer. Clones share keys and cached tokens.
///
/// Put it after [`StoredCredentials`](super::StoredCredentials), which refuse revoked tokens (decision O29): if it came
/// first, it would accept revoked tokens.
///
/// A task of the host application calls [`refresh`](Self::refresh). Without one, a request that finds keys older than five
/// minutes fetches them first, and a warning is logged once.
#[derive(Clone, Debug)]
pub struct SignedTokens(Arc<Inner>);

/// Source of the current time.
pub(super) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

struct Inner {
    issuer: Arc<str>,
    rules: Rules,
    algorithms: Vec<SignatureAlgorithm>,
    keys: Arc<Keys>,
    /// Verified tokens, up to a capacity (decision O28). Refused tokens are not cached.
    cache: Cache<TokenDigest, VerifiedToken>,
    outcomes: Outcomes,
    clock: Clock,
}

/// A token whose signature was verified and whose claims were accepted.
#[derive(Clone, Debug)]
struct VerifiedToken {
    identity: Identity,
    expires: Timestamp,
    /// The key that verified the signature.
    key: KeyId,
}

impl SignedTokens {
    /// Returns a builder for the tokens that `issuer` signs for `audience`, with keys fetched from `source`. A token's
    /// `iss` and `aud` must equal these texts byte for byte.
    pub fn builder(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        source: impl FetchKeys,
    ) -> SignedTokensBuilder {
        SignedTokensBuilder::new(issuer.into(), audience.into(), Box::new(source))
    }

    /// Fetches the keys now, and returns how long to wait before the next call: about five minutes, or less after a
    /// failure. Failures are logged, and the current keys stay in use.
    ///
    /// ```no_run
    /// # async fn run(tokens: catalogue_core::auth::signed::SignedTokens) {
    /// tokio::spawn(async move {
    ///     loop {
    ///         tokio::time::sleep(tokens.refresh().await).await;
    ///     }
    /// });
    /// # }
    /// ```
    pub async fn refresh(&self) -> Duration {
        self.0.keys.refresh().await
    }

    /// Returns the issuer of these tokens.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// Returns the status of the issuer's keys.
    #[must_use]
    pub fn keys(&self) -> KeysStatus {
        self.0.keys.status()
    }

    /// Returns the keys of the last set that are not used, each with its `kid` and the reason.
    #[must_use]
    pub fn skipped_keys(&self) -> Vec<String> {
        self.0.keys.skipped_keys()
    }

    /// Returns why the last fetch of the keys failed; `None` if it succeeded.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.0.keys.last_failure()
    }

    /// Returns the count of each outcome by its code (decision O32). Outcomes that apply only to opaque tokens stay 0.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.outcomes.all()
    }

    /// Returns issuer, rules and clock for the issuer's opaque tokens: the rules accept any `typ`, so decision O16 is skipped.
    pub(super) fn parts(&self) -> (Arc<str>, Rules, Clock) {
        let Inner { issuer, rules, clock, .. } = &*self.0;
        let rules = Rules { token_type: TokenType::Any, ..rules.clone() };
        (Arc::clone(issuer), rules, Arc::clone(clock))
    }
}

impl Inner {
    async fn identify(&self, token: BearerToken<'_>) -> Result<Identity, Rejection> {
        let text = token.expose();
        if !looks_like_jwt(text) {
            return Err(self.reject_malformed(text));
        }
        if text.len() > token::MAX_BYTES {
            return Err(Outcome::Length.into());
        }
        let digest = token.digest();
        if let Some(cached) = self.cache.get(&digest) {
            // Get the keys first, which can wait: the expiry is checked after the wait. The token needs its key in the set.
            let keys = self.keys.key_set_for(None).await?;
            if (self.clock)() < cached.expires && keys.contains(cached.key) {
                self.outcomes.count(Outcome::Cached);
                return Ok(cached.identity);
            }
        }
        let Some(token) = SignedToken::parse(text) else {
            return Err(self.reject_malformed(text));
        };
        if !token.is_issued_by(&self.issuer) {
            return Err(Rejection::Unrecognized);
        }
        let header = token.header(self.rules.token_type, &self.algorithms)?;
        let keys = self.keys.key_set_for(header.kid.as_deref()).await?;
        let mut verified = token.verify(&header, &keys);
        if verified.is_err() && header.kid.is_none() {
            // The token may be signed with a new key, like a token with an unknown `kid`.
            let newer = self.keys.fetch_for_request().await?;
            if !Arc::ptr_eq(&newer, &keys) {
                verified = token.verify(&header, &newer);
            }
        }
        let key = verified?;
        // From here on the claims are trusted: the issuer has signed them.
        let grant = self.rules.grant(&token.payload, header.is_access_token, (self.clock)())?;
        let issued = Issued::new(Arc::clone(&self.issuer), grant.client);
        let identity = Identity::issued(grant.account, &digest, grant.scopes, issued);
        self.cache.insert(digest, VerifiedToken { identity: identity.clone(), expires: grant.expires, key });
        self.outcomes.count(Outcome::Accepted);
        Ok(identity)
    }

    /// Leaves `text` to other authenticators, whose tokens may have any form. Counts it if it looks like a signed token.
    fn reject_malformed(&self, text: &str) -> Rejection {
        if token::has_jwt_parts(text) {
            self.outcomes.count(Outcome::Form);
        }
        Rejection::Unrecognized
    }
}

#[async_trait]
impl Authenticator for SignedTokens {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        match self.0.identify(token).await {
            Ok(identity) => Ok(Verdict::Accepted(identity)),
            Err(Rejection::Unrecognized) => Ok(Verdict::Unrecognized),
            Err(Rejection::Refused(outcome)) => {
                self.0.outcomes.count(outcome);
                Ok(Verdict::Refused(outcome.refusal(), Some(outcome.explanation())))
            }
            Err(Rejection::Unavailable(error)) => {
                self.0.outcomes.count(Outcome::Unavailable);
                Err(error)
            }
        }
    }

    fn issuer_and_audience(&self) -> Option<(&str, &str)> {
        Some((&self.0.issuer, &self.0.rules.audience))
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedTokens")
            .field("issuer", &self.issuer)
            .field("rules", &self.rules)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
