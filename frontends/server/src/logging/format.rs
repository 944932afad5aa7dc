//! [`Format`]: what a line of the log looks like.

use crate::config::{Layers, Setting};
use crate::exit::Failure;

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: an object on each line.
    Json,
}

impl Format {
    /// The one that the layers name, or text.
    pub(super) fn named(layers: &Layers, given: Option<String>) -> Result<Self, Failure> {
        let named = layers.text(Setting::LogFormat, given)?;
        Ok(named.map(|text| text.parse(|text| Self::parse(text))).transpose()?.unwrap_or(Self::Text))
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err(format!("{text:?} is not a format of the log; write text or json")),
        }
    }
}
