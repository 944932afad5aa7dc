//! [`InvalidParameter`]: a parameter and what is wrong with it (decisions R7 and R8).

use std::borrow::Cow;

use serde::Serialize;

use crate::storage::Limit;

pub(crate) const CURSOR: &str = "cursor";
pub(crate) const LIMIT: &str = "limit";

/// A parameter that cannot be parsed, as in `error.details`. Parameters are never corrected silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct InvalidParameter {
    parameter: &'static str,
    #[serde(flatten)]
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub(crate) enum Reason {
    Repeated,
    NotAnInteger,
    OutOfRange { minimum: usize, maximum: usize },
    Invalid,
}

impl Reason {
    pub(crate) const OUT_OF_RANGE: Self = Self::OutOfRange { minimum: Limit::MIN.get(), maximum: Limit::MAX.get() };
}

impl InvalidParameter {
    /// Error for any invalid cursor: malformed, altered, or issued to another account.
    pub(crate) const CURSOR: Self = Self::new(CURSOR, Reason::Invalid);

    /// All errors of query parameters, in the order of the documents.
    pub(crate) const ALL: [Self; 5] = [
        Self::new(LIMIT, Reason::Repeated),
        Self::new(LIMIT, Reason::NotAnInteger),
        Self::new(LIMIT, Reason::OUT_OF_RANGE),
        Self::new(CURSOR, Reason::Repeated),
        Self::CURSOR,
    ];

    pub(crate) const fn new(parameter: &'static str, reason: Reason) -> Self {
        Self { parameter, reason }
    }

    pub(crate) const fn parameter(self) -> &'static str {
        self.parameter
    }

    pub(crate) fn message(self) -> Cow<'static, str> {
        let name = self.parameter;
        match self.reason {
            Reason::Repeated => format!("The parameter `{name}` must not be repeated.").into(),
            Reason::NotAnInteger | Reason::OutOfRange { .. } => {
                let (minimum, maximum) = (Limit::MIN.get(), Limit::MAX.get());
                format!("The parameter `{name}` must be an integer from {minimum} to {maximum}.").into()
            }
            Reason::Invalid => "The parameter `cursor` must be the `meta.nextCursor` of a previous page.".into(),
        }
    }
}
