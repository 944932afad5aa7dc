//! [`Outcome`]: what becomes of a token, in one word, and how often (decision O32).

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::authenticator::{Explanation, Refusal};

/// What becomes of a token that has, or nearly has, the form of a signed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Verified and taken.
    Accepted,
    /// Verified before and taken.
    Kept,
    /// Not the form of a signed token.
    Form,
    /// Too long.
    Length,
    /// A member of the header comes twice or has another type.
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
    /// A claim is missing, comes twice or has another type.
    Claim,
    /// Names nobody who can have courses.
    Account,
    /// Cannot be told now.
    Unavailable,
}

impl Outcome {
    const ALL: [Self; 17] = [
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

    /// Why the caller is answered 401.
    pub(super) const fn refusal(self) -> Refusal {
        if matches!(self, Self::Expired) { Refusal::Expired } else { Refusal::Invalid }
    }

    /// Its word, and what the caller is told. That stands behind the signature: who holds a token that the issuer did not
    /// sign learns nothing.
    pub(super) const fn explanation(self) -> Explanation {
        const LACKING: &str = "The token lacks a claim that is required here.";
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
            Self::Claim => ("claim", Some(LACKING)),
            Self::Account => ("account", Some(LACKING)),
            Self::Unavailable => ("unavailable", None),
        };
        Explanation { word, description }
    }
}

/// How often each came of a token.
#[derive(Debug, Default)]
pub(super) struct Outcomes([AtomicU64; Outcome::ALL.len()]);

impl Outcomes {
    pub(super) fn count(&self, outcome: Outcome) {
        self.0[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Each word, and how often.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counted = Outcome::ALL.iter().zip(&self.0);
        counted.map(|(outcome, count)| (outcome.explanation().word, count.load(Ordering::Relaxed)))
    }
}
