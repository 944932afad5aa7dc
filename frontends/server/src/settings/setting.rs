//! [`Setting`]: properties of a setting, and [`Entry`]: a setting with the type of its value.

use std::ops::Deref;

/// A command-line option that also has an environment variable and a key in the configuration file.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Name of the option without the leading hyphens, and key in the configuration file.
    pub(crate) name: &'static str,
    /// Placeholder for a value.
    pub(crate) value_name: &'static str,
    /// Help text.
    pub(crate) help: &'static str,
    pub(crate) default: Fallback,
    /// Text after the default in the help.
    pub(crate) note: &'static str,
    pub(crate) shape: Shape,
    pub(crate) section: Section,
    /// Whether the value can contain a secret, as in an address: it is never shown whole, and can be in a file (`file:PATH`).
    pub(crate) is_secret: bool,
    /// Values for shell completion.
    pub(crate) possible_values: &'static [&'static str],
}

/// Default of a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fallback {
    /// A value, given as its text.
    Value(&'static str),
    /// No value, which the help describes by this text.
    Words(&'static str),
    /// No value, and no description.
    Nothing,
}

/// Form of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One text.
    Text,
    /// The name of a file.
    Path,
    /// `file:` and the name of a file, whose content is never shown.
    Secret,
    /// A size or a count.
    Size,
    /// True (also without a value), false, or a text that implies true, such as the duration of `--wait`.
    Choice,
    /// Several texts; in one string they are separated by spaces or commas.
    List,
    /// True or false.
    Flag,
}

/// Heading of a setting in the help. The command line's `options.rs` lists the commands that take each setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Serve,
    Clients,
    /// Global options, which every command takes.
    Every,
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(super) setting: Setting,
    parse: Parse<T>,
}

/// Parser for the texts of a value.
#[derive(Debug)]
pub(super) enum Parse<T> {
    /// For one text.
    One(fn(&str) -> Result<T, String>),
    /// For a list of texts.
    Many(fn(&[String]) -> Result<T, String>),
}

impl Setting {
    /// Returns the environment variable, such as `CATALOGUE_BASE_URL`.
    pub(crate) fn variable(&self) -> String {
        format!("CATALOGUE_{}", self.name.replace('-', "_").to_uppercase())
    }

    /// Returns the texts of the default, if it is a value.
    pub(crate) fn default_texts(&self) -> Option<Vec<String>> {
        let Fallback::Value(text) = self.default else { return None };
        Some(text.split(',').map(str::to_owned).collect())
    }

    /// Returns the default, as a value or as a description.
    pub(crate) fn default_text(&self) -> Option<&'static str> {
        match self.default {
            Fallback::Value(text) | Fallback::Words(text) => Some(text),
            Fallback::Nothing => None,
        }
    }
}

impl<T> Entry<T> {
    /// Creates a setting; `value_name` is the placeholder for its value.
    pub(super) const fn new(name: &'static str, value_name: &'static str, parse: Parse<T>) -> Self {
        let setting = Setting {
            name,
            value_name,
            help: "",
            default: Fallback::Nothing,
            note: "",
            shape: if let Parse::Many(_) = parse { Shape::List } else { Shape::Text },
            section: Section::Serve,
            is_secret: false,
            possible_values: &[],
        };
        Self { setting, parse }
    }

    /// Parses the texts of a value.
    pub(crate) fn parse(&self, texts: &[String]) -> Result<T, String> {
        match self.parse {
            Parse::One(parse) => parse(texts.first().map_or("", |text| text)),
            Parse::Many(parse) => parse(texts),
        }
    }

    /// Returns the default value.
    ///
    /// # Panics
    /// Panics if the table has no default for the setting, or an invalid one.
    pub(crate) fn default_value(&self) -> T {
        let texts = self.setting.default_texts().unwrap_or_else(|| panic!("{} has no default", self.setting.name));
        self.parse(&texts).unwrap_or_else(|error| panic!("the default of {}: {error}", self.setting.name))
    }
}

impl<T> Deref for Entry<T> {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}
