//! [`Outcome`]: the result of checking a token as one word, and counters (decision O32).

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::authenticator::{Explanation, Refusal};
use crate::storage::StorageError;

/// Defines the outcomes, the list of all, and the word and the description of each.
macro_rules! outcomes {
    ($($(#[$doc:meta])* $outcome:ident: $code:literal, $description:expr;)*) => {
        /// Result of checking a token that has, or nearly has, the form of a signed token, or that is introspected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::auth) enum Outcome {
            $($(#[$doc])* $outcome,)*
        }

        impl Outcome {
            const ALL: &'static [Self] = &[$(Self::$outcome),*];

            /// Returns its word, and the description for the caller: only if the signature was verified or the issuer
            /// reported the token as active, so that a caller without a token of the issuer learns nothing.
            pub(in crate::auth) const fn explanation(self) -> Explanation {
                let (code, description) = match self {
                    $(Self::$outcome => ($code, $description),)*
                };
                Explanation { code, description }
            }
        }
    };
}

outcomes! {
    /// Verified and accepted.
    Accepted: "accepted", None;
    /// Accepted from the cache.
    Cached: "cached", None;
    /// Does not have the form of a signed token.
    Form: "form", None;
    Length: "length", None;
    /// A member of the header occurs twice, has the wrong type or cannot be read.
    Header: "header", None;
    /// Not active, according to the introspected issuer.
    Inactive: "inactive", None;
    /// From another issuer, according to the introspected issuer.
    Issuer: "issuer", None;
    /// Does not have the type of an access token.
    Typ: "typ", None;
    /// The algorithm is not accepted.
    Alg: "alg", None;
    /// The header has `crit`; no critical extension is supported.
    Crit: "crit", None;
    /// The issuer has no key for it.
    Key: "key", None;
    Signature: "signature", None;
    Audience: "audience", Some("The token is for another audience.");
    Expired: "expired", Some("The token has expired.");
    NotBefore: "not_before", Some("The token is not valid yet.");
    /// Bound to a key of the sender.
    Bound: "bound", Some("The token is bound to a key, which is not supported here.");
    Claim: "claim", Some("A claim of the token is missing, comes twice or cannot be read.");
    /// Does not name a possible account.
    Account: "account", Some("The token does not name an account.");
    /// Cannot be checked now.
    Unavailable: "unavailable", None;
}

impl Outcome {
    pub(super) const fn refusal(self) -> Refusal {
        if matches!(self, Self::Expired) { Refusal::Expired } else { Refusal::Invalid }
    }
}

pub(super) enum Rejection {
    /// Not a token of this authenticator.
    Unrecognized,
    /// Refused.
    Refused(Outcome),
    /// Cannot be checked now.
    Unavailable(StorageError),
}

impl From<Outcome> for Rejection {
    fn from(outcome: Outcome) -> Self {
        Self::Refused(outcome)
    }
}

impl From<StorageError> for Rejection {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error)
    }
}

/// Counter of each outcome.
#[derive(Debug, Default)]
pub(in crate::auth) struct Outcomes([AtomicU64; Outcome::ALL.len()]);

impl Outcomes {
    pub(in crate::auth) fn count(&self, outcome: Outcome) {
        self.0[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::auth) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        Outcome::ALL.iter().map(|outcome| outcome.explanation().code).zip(counts)
    }
}
