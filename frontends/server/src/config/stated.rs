//! [`Stated`]: a setting as those who operate the server may see it.

use super::{Layers, Setting, Shape, Sourced};
use crate::exit::Failure;
use crate::text::{printable, without_credentials};

/// What is in force for a setting that somebody has given, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    /// An address with neither user nor password.
    pub(crate) value: String,
    /// The option, the variable, or the file's line.
    pub(crate) source: String,
}

impl Layers {
    /// What the layers say of a setting, if they say anything.
    pub(crate) fn stated(&self, setting: Setting) -> Result<Option<Stated>, Failure> {
        let found = match setting.shape() {
            Shape::Flag => self.sourced_flag(setting, false)?.map(|flag| flag.map(|flag| flag.to_string())),
            Shape::List => self.list(setting, Vec::new())?.map(|items| items.map(|items| shown_list(setting, &items))),
            Shape::Text | Shape::Size | Shape::Choice => {
                self.text(setting, None)?.map(|text| text.map(|text| shown(setting, &text)))
            }
        };
        Ok(found.map(|Sourced { value, source }| {
            let place = source.strip_suffix(&format!(": {}", setting.name())).unwrap_or(&source);
            Stated { value: printable(&value).into_owned(), source: place.to_owned() }
        }))
    }
}

fn shown(setting: Setting, text: &str) -> String {
    if setting.is_secret() { without_credentials(text) } else { text.to_owned() }
}

fn shown_list(setting: Setting, items: &[String]) -> String {
    items.iter().map(|item| shown(setting, item)).collect::<Vec<_>>().join(" ")
}
