//! [`Offered`]: values that a shell completes.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// Reads values as `parser` does, and offers some to whoever completes a command line. Others are left to the parser, which
/// says better than a list what is wrong with them.
#[derive(Clone)]
pub(super) struct Offered<P> {
    parser: P,
    values: &'static [&'static str],
}

impl<P: TypedValueParser> Offered<P> {
    pub(super) const fn new(parser: P, values: &'static [&'static str]) -> Self {
        Self { parser, values }
    }
}

impl Offered<StringValueParser> {
    /// Texts, which are read later on.
    pub(super) fn texts(values: &'static [&'static str]) -> Self {
        Self::new(StringValueParser::new(), values)
    }
}

impl<P: TypedValueParser> TypedValueParser for Offered<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().copied().map(PossibleValue::new)))
    }
}
