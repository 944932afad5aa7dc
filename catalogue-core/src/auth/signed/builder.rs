//! [`SignedTokensBuilder`]: builds [`SignedTokens`].

use std::sync::Arc;
use std::time::Instant;

use quick_cache::sync::Cache;

use super::claims::Rules;
use super::keys::Keys;
use super::outcome::Outcomes;
use super::{FetchKeys, Inner, SignatureAlgorithm, SignedTokens};
use crate::build_error::BuildError;
use crate::timestamp::Timestamp;

/// Default number of verified tokens that are cached; about 5 MB.
const DEFAULT_TOKEN_CACHE: usize = 10_000;

/// Type that a token's header must declare (decision O10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenType {
    /// An access token, `at+jwt`, with the claims that RFC 9068 requires.
    #[default]
    AccessToken,
    /// Any type, for issuers that declare access tokens as `JWT`. Audience and claims distinguish them from ID tokens.
    /// A token without `at+jwt` in its header is refused if a claim names another kind of token. It is also refused if it
    /// has `nonce`, `at_hash` or `c_hash`, unless its claim `typ` is `Bearer`.
    Any,
}

/// Builder of [`SignedTokens`].
#[derive(Debug)]
#[must_use = "a builder does nothing before `build`"]
pub struct SignedTokensBuilder {
    issuer: String,
    source: Box<dyn FetchKeys>,
    rules: Rules,
    algorithms: Vec<SignatureAlgorithm>,
    cache_capacity: usize,
}

impl SignedTokensBuilder {
    pub(super) fn new(issuer: String, audience: String, source: Box<dyn FetchKeys>) -> Self {
        let (account_claim, scope_prefix) = ("sub".to_owned(), String::new());
        let rules = Rules { audience, token_type: TokenType::default(), account_claim, scope_prefix };
        Self {
            issuer,
            source,
            rules,
            algorithms: SignatureAlgorithm::ALL.to_vec(),
            cache_capacity: DEFAULT_TOKEN_CACHE,
        }
    }

    /// Sets the claim that contains the account's id (decision O17). Default: `sub`. With the default, a token whose `sub`
    /// is its client's id is refused, because a client that acts for itself is not an account.
    pub fn account_claim(mut self, name: impl Into<String>) -> Self {
        self.rules.account_claim = name.into();
        self
    }

    /// Sets the prefix that the issuer puts before the names of the scopes of section 5.4, such as `catalogue:`. Scopes
    /// without it are ignored. Default: none.
    pub fn scope_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.rules.scope_prefix = prefix.into();
        self
    }

    /// Sets the accepted algorithms. Default: all.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = SignatureAlgorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Sets the type that a token's header must declare. Default: [`TokenType::AccessToken`].
    pub fn token_type(mut self, token_type: TokenType) -> Self {
        self.rules.token_type = token_type;
        self
    }

    /// Sets how many verified tokens are cached, so that each signature is verified once (decision O28). Default: 10,000.
    pub fn token_cache_capacity(mut self, capacity: usize) -> Self {
        self.cache_capacity = capacity;
        self
    }

    /// Builds the authenticator.
    ///
    /// # Errors
    /// Returns an error if the issuer, the audience or the account claim is empty, or if no algorithm is accepted.
    pub fn build(self) -> Result<SignedTokens, BuildError> {
        self.build_with(Timestamp::now, Instant::now)
    }

    /// Like [`build`](Self::build), with other clocks: `clock` for the times in tokens, `steady` for the age of keys.
    pub(in crate::auth) fn build_with(
        self,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        steady: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Result<SignedTokens, BuildError> {
        let Rules { audience, account_claim, .. } = &self.rules;
        let required = [("issuer", &self.issuer), ("audience", audience), ("account claim", account_claim)];
        if let Some((name, _)) = required.into_iter().find(|(_, value)| value.is_empty()) {
            return Err(BuildError::SignedTokens(name));
        }
        if self.algorithms.is_empty() {
            return Err(BuildError::SignedTokens("list of algorithms"));
        }
        Ok(SignedTokens(Arc::new(Inner {
            keys: Arc::new(Keys::new(&self.issuer, self.source, steady)),
            issuer: self.issuer.into(),
            rules: self.rules,
            algorithms: self.algorithms,
            cache: Cache::new(self.cache_capacity),
            outcomes: Outcomes::default(),
            clock: Arc::new(clock),
        })))
    }
}
