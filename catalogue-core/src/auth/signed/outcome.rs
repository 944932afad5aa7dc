//! [`Outcome`]: the result of checking a token, and a counter of each outcome (decision O32).

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::authenticator::{Explanation, Refusal};
use crate::storage::StorageError;

/// Defines the outcomes, the list of all, and the code and the description of each.
macro_rules! outcomes {
    ($($(#[$doc:meta])* $outcome:ident: $code:literal, $description:expr;)*) => {
        /// Result of checking a text with the parts of a signed token, or a token that is introspected.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::auth) enum Outcome {
            $($(#[$doc])* $outcome,)*
        }

        impl Outcome {
            const ALL: &'static [Self] = &[$(Self::$outcome),*];

            /// Returns the code, and the description for the caller. A description implies that the signature was verified
            /// or that the issuer reported the token as active: a caller without a token of the issuer learns nothing.
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
    /// Is not a well-formed signed token.
    Form: "form", None;
    Length: "length", None;
    /// A member of the header occurs twice, has the wrong type or cannot be read.
    Header: "header", None;
    /// Not active, according to the introspection response.
    Inactive: "inactive", None;
    /// From another issuer, according to the introspection response.
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
    Bound: "bound", Some("Sender-constrained tokens (cnf) are not supported.");
    Claim: "claim", Some("A claim of the token is missing, repeated or invalid.");
    /// The account claim is not a valid id, or is the id of the client itself.
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
