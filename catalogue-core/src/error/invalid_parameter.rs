//! [`InvalidParameter`]: what is wrong with a parameter (decisions R7 and R8).

use std::borrow::Cow;

use serde::Serialize;

use crate::storage::Limit;

/// The parameters that can be invalid.
pub(crate) const CURSOR: &str = "cursor";
pub(crate) const LIMIT: &str = "limit";

/// A parameter that cannot be understood. It is never corrected silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidParameter {
    parameter: &'static str,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    Repeated,
    NotAnInteger,
    OutOfRange,
    Invalid,
}

/// `error.details` of an invalid parameter.
#[derive(Serialize)]
pub(crate) struct ParameterDetails {
    parameter: &'static str,
    reason: Fault,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<usize>,
}

impl InvalidParameter {
    /// A cursor that is malformed, altered, or issued to another account: all alike.
    pub(crate) const CURSOR: Self = Self::new(CURSOR, Fault::Invalid);

    /// Every fault that a request may be refused for.
    pub(crate) const ALL: [Self; 5] = [
        Self::new(LIMIT, Fault::Repeated),
        Self::new(LIMIT, Fault::NotAnInteger),
        Self::new(LIMIT, Fault::OutOfRange),
        Self::new(CURSOR, Fault::Repeated),
        Self::CURSOR,
    ];

    pub(crate) const fn new(parameter: &'static str, fault: Fault) -> Self {
        Self { parameter, fault }
    }

    /// The parameter's name.
    pub(crate) const fn parameter(self) -> &'static str {
        self.parameter
    }

    pub(crate) fn message(self) -> Cow<'static, str> {
        let name = self.parameter;
        match self.fault {
            Fault::Repeated => format!("The parameter `{name}` may be given once only.").into(),
            Fault::NotAnInteger | Fault::OutOfRange => {
                let (minimum, maximum) = (Limit::MIN.get(), Limit::MAX.get());
                format!("The parameter `{name}` must be an integer from {minimum} to {maximum}.").into()
            }
            Fault::Invalid => "The parameter `cursor` must be the `meta.nextCursor` of a prior page.".into(),
        }
    }

    pub(crate) fn details(self) -> ParameterDetails {
        let bound = |limit: Limit| (self.fault == Fault::OutOfRange).then_some(limit.get());
        ParameterDetails {
            parameter: self.parameter,
            reason: self.fault,
            minimum: bound(Limit::MIN),
            maximum: bound(Limit::MAX),
        }
    }
}
