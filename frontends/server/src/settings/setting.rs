//! [`Setting`]: what is known of an option, and [`Entry`]: the same with the type of its value.

use std::ops::Deref;

/// An option of the command line that has an environment variable and a key in the configuration file.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The option, without hyphens before it: the key in the configuration file.
    pub(crate) name: &'static str,
    /// What stands for a value.
    pub(crate) value_name: &'static str,
    /// What it is for.
    pub(crate) help: &'static str,
    pub(crate) default: Fallback,
    /// What the help says behind the default.
    pub(crate) note: &'static str,
    pub(crate) shape: Shape,
    pub(crate) section: Section,
    /// Its value is an address that may hold a password: it is never shown whole, and may stand in a file.
    pub(crate) is_secret: bool,
    /// Values that a shell completes.
    pub(crate) offered: &'static [&'static str],
}

/// What is in force where nobody says anything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fallback {
    /// What this text means as a value.
    Value(&'static str),
    /// No value, which means this.
    Words(&'static str),
    /// Nothing that needs a word.
    Nothing,
}

/// What a setting's value looks like.
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
    /// True, false, or one text that says more than true.
    Choice,
    /// Several texts; in one string they are separated by blanks or commas.
    List,
    /// True or false.
    Flag,
}

/// Where a setting stands in the help. `serve`, `doctor` and `config check` take it, and what `cli/options.rs` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Serve,
    Clients,
    /// Every command takes it.
    Every,
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(super) setting: Setting,
    parse: Parse<T>,
}

/// How the texts of a value are read.
#[derive(Debug)]
pub(super) enum Parse<T> {
    /// There is one.
    One(fn(&str) -> Result<T, String>),
    /// There may be several.
    Many(fn(&[String]) -> Result<T, String>),
}

impl Setting {
    /// The environment variable, such as `CATALOGUE_BASE_URL`.
    pub(crate) fn variable(&self) -> String {
        format!("CATALOGUE_{}", self.name.replace('-', "_").to_uppercase())
    }

    /// The texts of the default, if that is a value.
    pub(crate) fn default_texts(&self) -> Option<Vec<String>> {
        let Fallback::Value(text) = self.default else { return None };
        Some(text.split(',').map(str::to_owned).collect())
    }

    /// What is in force where nobody says anything, as a value or in words.
    pub(crate) fn default_text(&self) -> Option<&'static str> {
        match self.default {
            Fallback::Value(text) | Fallback::Words(text) => Some(text),
            Fallback::Nothing => None,
        }
    }
}

impl<T> Entry<T> {
    /// One of that name, with what stands for a value of it.
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
            offered: &[],
        };
        Self { setting, parse }
    }

    /// Reads what is written.
    pub(crate) fn parse(&self, texts: &[String]) -> Result<T, String> {
        match self.parse {
            Parse::One(parse) => parse(texts.first().map_or("", |text| text)),
            Parse::Many(parse) => parse(texts),
        }
    }

    /// The value where nobody gives one.
    ///
    /// # Panics
    /// Where the table has no default for it, or a wrong one.
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
