//! Signed access tokens of an authorization server (RFC 9068), checked against its public keys (decisions O6 to O21).
//!
//! ```
//! use bytes::Bytes;
//! use catalogue_core::auth::signed::SignedTokens;
//! use catalogue_core::storage::MemoryStorage;
//! use catalogue_core::Catalogue;
//!
//! let key_set = Bytes::from_static(br#"{"keys":[]}"#); // one that stays; see `FetchKeys` for one that is fetched
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
mod key_set;
mod keys;
mod members;
mod outcome;
mod revocation;
#[cfg(test)]
mod tests;
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
pub use keys::KeysStatus;
pub(super) use members::Members;
use outcome::Not;
pub(super) use outcome::{Outcome, Outcomes};
pub use revocation::Revocation;
pub(super) use token::MAX_BYTES;
pub(crate) use token::has_form;
pub use unverified::UnverifiedToken;

use super::authenticator::{Authenticator, Verdict};
use super::bearer::BearerToken;
use crate::model::{Identity, Issued, TokenDigest};
use crate::storage::StorageError;
use crate::timestamp::Timestamp;
use key_set::KeyId;
use keys::Keys;
use token::SignedToken;

/// Knows the signed access tokens of one issuer. Several issuers are several of these. Clones share keys and kept tokens.
///
/// It comes after [`StoredCredentials`](super::StoredCredentials), which refuse the tokens that were revoked (decision O29):
/// put before them, it takes those.
///
/// A host's task calls [`refresh`](Self::refresh). Without one, a request that finds keys older than five minutes fetches
/// them first, and a warning is logged once.
#[derive(Clone, Debug)]
pub struct SignedTokens(Arc<Inner>);

/// What says how late it is.
pub(super) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

struct Inner {
    issuer: Arc<str>,
    rules: Rules,
    algorithms: Vec<SignatureAlgorithm>,
    keys: Arc<Keys>,
    /// Tokens that were verified before, up to a number (decision O28). Refused ones are not kept.
    kept: Cache<TokenDigest, KeptToken>,
    outcomes: Outcomes,
    clock: Clock,
}

/// A token whose signature was verified and whose claims are right.
#[derive(Clone, Debug)]
struct KeptToken {
    identity: Identity,
    expires: Timestamp,
    /// The key that verified it.
    key: KeyId,
}

impl SignedTokens {
    /// The tokens that `issuer` signs for `audience`, with the keys that `source` fetches. A token's `iss` and `aud` must be
    /// these texts byte by byte.
    pub fn builder(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        source: impl FetchKeys,
    ) -> SignedTokensBuilder {
        SignedTokensBuilder::new(issuer.into(), audience.into(), Box::new(source))
    }

    /// Fetches the keys now, and says how long to wait until this is called again: about five minutes, or less after a
    /// failure. It logs failures and keeps the keys that it has.
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

    /// Whose tokens these are.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// How the keys stand.
    #[must_use]
    pub fn keys(&self) -> KeysStatus {
        self.0.keys.status()
    }

    /// The keys of the last set that are not used, each by its name and with the reason.
    #[must_use]
    pub fn passed_over(&self) -> Vec<String> {
        self.0.keys.passed_over()
    }

    /// Why the last fetch of the keys failed; `None` where it succeeded.
    #[must_use]
    pub fn last_failure(&self) -> Option<String> {
        self.0.keys.last_failure()
    }

    /// How often each thing became of a token, by the words of decision O32. Words of opaque tokens alone count nothing.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.outcomes.all()
    }

    /// What the issuer's opaque tokens are held against too, but for what signed ones alone must have (decision O16).
    pub(super) fn parts(&self) -> (Arc<str>, Rules, Clock) {
        let Inner { issuer, rules, clock, .. } = &*self.0;
        let rules = Rules { token_type: TokenType::Any, ..rules.clone() };
        (Arc::clone(issuer), rules, Arc::clone(clock))
    }
}

impl Inner {
    async fn identify(&self, token: BearerToken<'_>) -> Result<Identity, Not> {
        let text = token.expose();
        if !has_form(text) {
            return Err(self.not_of_the_form(text));
        }
        if text.len() > token::MAX_BYTES {
            return Err(Outcome::Length.into());
        }
        let digest = token.digest();
        if let Some(kept) = self.kept.get(&digest) {
            // It may end while this waits, and counts while the issuer has the key.
            let keys = self.keys.with(None).await?;
            if (self.clock)() < kept.expires && keys.has(kept.key) {
                self.outcomes.count(Outcome::Kept);
                return Ok(kept.identity);
            }
        }
        let Some(token) = SignedToken::parse(text) else {
            return Err(self.not_of_the_form(text));
        };
        if !token.is_of(&self.issuer) {
            return Err(Not::Mine);
        }
        let header = token.header(self.rules.token_type, &self.algorithms)?;
        let keys = self.keys.with(header.kid.as_deref()).await?;
        let mut verified = token.verified(&header, &keys);
        if verified.is_err() && header.kid.is_none() {
            // It may be of a new key as one with an unknown `kid` may be.
            let newer = self.keys.fetch_for_request().await?;
            if !Arc::ptr_eq(&newer, &keys) {
                verified = token.verified(&header, &newer);
            }
        }
        let key = verified?;
        // What the issuer has signed is believed from here on.
        let grant = self.rules.grant(&token.payload, header.is_access_token, (self.clock)())?;
        let issued = Issued::new(Arc::clone(&self.issuer), grant.client);
        let identity = Identity::issued(grant.account, &digest, grant.scopes, issued);
        self.kept.insert(digest, KeptToken { identity: identity.clone(), expires: grant.expires, key });
        self.outcomes.count(Outcome::Accepted);
        Ok(identity)
    }

    /// Another authenticator may have tokens of any form; what looks like a signed one is counted.
    fn not_of_the_form(&self, text: &str) -> Not {
        if token::nearly_has_form(text) {
            self.outcomes.count(Outcome::Form);
        }
        Not::Mine
    }
}

#[async_trait]
impl Authenticator for SignedTokens {
    async fn authenticate(&self, token: BearerToken<'_>) -> Result<Verdict, StorageError> {
        match self.0.identify(token).await {
            Ok(identity) => Ok(Verdict::Accepted(identity)),
            Err(Not::Mine) => Ok(Verdict::NotMine),
            Err(Not::Taken(outcome)) => {
                self.0.outcomes.count(outcome);
                Ok(Verdict::Explained(outcome.refusal(), outcome.explanation()))
            }
            Err(Not::Unavailable(error)) => {
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
