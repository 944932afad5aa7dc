//! [`Outcome`]: what becomes of a token, in one word, and how often (decision O32).

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::authenticator::{Explanation, Refusal};

/// What becomes of a token that has, or nearly has, the form of a signed one, or of one that its issuer is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::auth) enum Outcome {
    /// Verified and taken.
    Accepted,
    /// Verified before and taken.
    Kept,
    /// Not the form of a signed token.
    Form,
    /// Too long.
    Length,
    /// A member of the header comes twice, has another type or cannot be read.
    Header,
    /// Not the type of an access token.
    Typ,
    /// An algorithm that is not taken.
    Alg,
    /// Something critical that is not known here.
    Crit,
    /// No key of the issuer's for it.
    Key,
    /// The signature is wrong.
    Signature,
    /// For another audience.
    Audience,
    /// Past its expiry.
    Expired,
    /// Not valid yet.
    NotBefore,
    /// Bound to a key of the sender's.
    Bound,
    /// A claim is missing, comes twice, has another type or cannot be read.
    Claim,
    /// Names nobody who can have courses.
    Account,
    /// Cannot be told now.
    Unavailable,
    /// The issuer that was asked says that it is not active.
    Inactive,
    /// The issuer that was asked names another one.
    Issuer,
}

impl Outcome {
    /// What becomes of signed tokens.
    pub(super) const SIGNED: [Self; 17] = [
        Self::Accepted,
        Self::Kept,
        Self::Form,
        Self::Length,
        Self::Header,
        Self::Typ,
        Self::Alg,
        Self::Crit,
        Self::Key,
        Self::Signature,
        Self::Audience,
        Self::Expired,
        Self::NotBefore,
        Self::Bound,
        Self::Claim,
        Self::Account,
        Self::Unavailable,
    ];

    /// What becomes of tokens that the issuer is asked about.
    pub(in crate::auth) const INTROSPECTED: [Self; 13] = [
        Self::Accepted,
        Self::Kept,
        Self::Length,
        Self::Inactive,
        Self::Issuer,
        Self::Typ,
        Self::Audience,
        Self::Expired,
        Self::NotBefore,
        Self::Bound,
        Self::Claim,
        Self::Account,
        Self::Unavailable,
    ];

    /// Why the caller is answered 401.
    pub(super) const fn refusal(self) -> Refusal {
        if matches!(self, Self::Expired) { Refusal::Expired } else { Refusal::Invalid }
    }

    /// Its word, and what the caller is told. That stands behind the signature, or behind the issuer's word that the token is
    /// active: who holds no token of the issuer's learns nothing.
    pub(in crate::auth) const fn explanation(self) -> Explanation {
        let (word, description) = match self {
            Self::Accepted => ("accepted", None),
            Self::Kept => ("kept", None),
            Self::Form => ("form", None),
            Self::Length => ("length", None),
            Self::Header => ("header", None),
            Self::Typ => ("typ", None),
            Self::Alg => ("alg", None),
            Self::Crit => ("crit", None),
            Self::Key => ("key", None),
            Self::Signature => ("signature", None),
            Self::Audience => ("audience", Some("The token is for another audience.")),
            Self::Expired => ("expired", Some("The token has expired.")),
            Self::NotBefore => ("not_before", Some("The token is not valid yet.")),
            Self::Bound => ("bound", Some("The token is bound to a key, which is not supported here.")),
            Self::Claim => ("claim", Some("A claim of the token is missing, comes twice or cannot be read.")),
            Self::Account => ("account", Some("The token does not name an account.")),
            Self::Unavailable => ("unavailable", None),
            Self::Inactive => ("inactive", None),
            Self::Issuer => ("issuer", None),
        };
        Explanation { word, description }
    }
}

/// How often each came of a token.
#[derive(Debug, Default)]
pub(in crate::auth) struct Outcomes([AtomicU64; Outcome::Issuer as usize + 1]);

impl Outcomes {
    pub(in crate::auth) fn count(&self, outcome: Outcome) {
        self.0[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The word of each of these, and how often.
    pub(in crate::auth) fn of(&self, outcomes: &'static [Outcome]) -> impl Iterator<Item = (&'static str, u64)> {
        let count = |outcome: Outcome| self.0[outcome as usize].load(Ordering::Relaxed);
        outcomes.iter().map(move |outcome| (outcome.explanation().word, count(*outcome)))
    }
}
