//! [`Form`]: fields of a form or a query.

use crate::input::{FieldError, Reason};

/// The received fields, in their order. Unknown ones are ignored.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// Returns the fields for which `fits` returns `true`, given name and value.
    pub(crate) fn filtered(&self, fits: impl Fn(&str, &str) -> bool) -> Self {
        Self(self.0.iter().filter(|(field, value)| fits(field, value)).cloned().collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all values of a field.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a field that may occur only once; empty if it is missing.
    pub(crate) fn one(&self, name: &'static str) -> Result<&str, FieldError> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (value, None) => Ok(value.unwrap_or_default()),
            (_, Some(_)) => Err(Reason::Repeated.of(name)),
        }
    }

    /// Returns the first value of a field, to show it again; empty if it is missing.
    pub(crate) fn first_or_empty<'f>(&'f self, name: &'f str) -> &'f str {
        self.all(name).next().unwrap_or_default()
    }
}
