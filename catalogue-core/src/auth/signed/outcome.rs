//! [`Outcome`]: what becomes of a token, in one word, and how often (decision O32).

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::authenticator::{Explanation, Refusal};
use crate::storage::StorageError;

/// Makes the outcomes, all of them in a list, and the word and the description of each.
macro_rules! outcomes {
    ($($(#[$doc:meta])* $outcome:ident: $word:literal, $description:expr;)*) => {
        /// What becomes of a token that has, or nearly has, the form of a signed one, or of one that its issuer is asked about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::auth) enum Outcome {
            $($(#[$doc])* $outcome,)*
        }

        impl Outcome {
            const ALL: &'static [Self] = &[$(Self::$outcome),*];

            /// Its word, and what the caller is told. That stands behind the signature, or behind the issuer's word that the
            /// token is active: who holds no token of the issuer's learns nothing.
            pub(in crate::auth) const fn explanation(self) -> Explanation {
                let (word, description) = match self {
                    $(Self::$outcome => ($word, $description),)*
                };
                Explanation { word, description }
            }
        }
    };
}

outcomes! {
    /// Verified and taken.
    Accepted: "accepted", None;
    /// Verified before and taken.
    Kept: "kept", None;
    /// Not the form of a signed token.
    Form: "form", None;
    Length: "length", None;
    /// A member of the header comes twice, has another type or cannot be read.
    Header: "header", None;
    /// Not active, as the issuer says that was asked.
    Inactive: "inactive", None;
    /// Of another issuer, as the one says that was asked.
    Issuer: "issuer", None;
    /// Not the type of an access token.
    Typ: "typ", None;
    /// An algorithm that is not taken.
    Alg: "alg", None;
    /// Something critical that is not known here.
    Crit: "crit", None;
    /// No key of the issuer's for it.
    Key: "key", None;
    Signature: "signature", None;
    Audience: "audience", Some("The token is for another audience.");
    Expired: "expired", Some("The token has expired.");
    NotBefore: "not_before", Some("The token is not valid yet.");
    /// Bound to a key of the sender's.
    Bound: "bound", Some("The token is bound to a key, which is not supported here.");
    Claim: "claim", Some("A claim of the token is missing, comes twice or cannot be read.");
    /// Names nobody who can have courses.
    Account: "account", Some("The token does not name an account.");
    /// Cannot be told now.
    Unavailable: "unavailable", None;
}

impl Outcome {
    /// Why the caller is answered 401.
    pub(super) const fn refusal(self) -> Refusal {
        if matches!(self, Self::Expired) { Refusal::Expired } else { Refusal::Invalid }
    }
}

/// Why a token is not taken.
pub(super) enum Not {
    /// It is another authenticator's, if anybody's.
    Mine,
    /// It is refused.
    Taken(Outcome),
    /// It cannot be judged now.
    Unavailable(StorageError),
}

impl From<Outcome> for Not {
    fn from(outcome: Outcome) -> Self {
        Self::Taken(outcome)
    }
}

impl From<StorageError> for Not {
    fn from(error: StorageError) -> Self {
        Self::Unavailable(error)
    }
}

/// How often each came of a token.
#[derive(Debug, Default)]
pub(in crate::auth) struct Outcomes([AtomicU64; Outcome::ALL.len()]);

impl Outcomes {
    pub(in crate::auth) fn count(&self, outcome: Outcome) {
        self.0[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The words of all outcomes, and how often each was counted.
    pub(in crate::auth) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        Outcome::ALL.iter().map(|outcome| outcome.explanation().word).zip(counts)
    }
}
