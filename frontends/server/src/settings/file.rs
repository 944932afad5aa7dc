//! [`ConfigFile`]: strict parser of the configuration file.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::layers::RawValue;
use super::table::{all, named};
use super::{Setting, Shape};
use crate::redaction::{AMBIGUOUS, is_ambiguous};
use crate::suggest::closest_match;
use crate::text::printable;

/// Settings of a configuration file, each with its line number, as far as they can be read.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    /// Path of the file, as given.
    pub(super) name: String,
    /// Texts and line number, by the name of the setting.
    values: BTreeMap<&'static str, (Vec<String>, usize)>,
    /// Problems of the file, in the order of its lines.
    pub(crate) errors: Vec<String>,
}

impl ConfigFile {
    /// Parses a file's text; `name` appears in messages.
    pub(crate) fn parse(name: String, text: &str) -> Self {
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let line = line_of(text, error.span().map_or(0, |span| span.start));
                let message = format!("{name}: line {line}: not TOML: {}", error.message());
                return Self::unreadable(name, message);
            }
        };
        let mut file = Self { name, ..Self::default() };
        let mut pairs: Vec<_> = table.get_ref().iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in pairs {
            let line = line_of(text, key.span().start);
            match read_pair(key.get_ref(), value) {
                Ok((setting, texts)) => drop(file.values.insert(setting.name, (texts, line))),
                Err(message) => file.errors.push(format!("{}: line {line}: {message}", file.name)),
            }
        }
        file
    }

    /// Creates a file without settings, whose problem is `message`.
    pub(crate) fn unreadable(name: String, message: String) -> Self {
        Self { name, errors: vec![message], ..Self::default() }
    }

    /// Returns the texts of a setting and their location.
    pub(crate) fn get(&self, setting: &Setting) -> Option<RawValue> {
        let (texts, line) = self.values.get(setting.name)?;
        let location = format!("{}: line {line}", self.name);
        Some(RawValue { texts: texts.clone(), location, key: Some(setting.name) })
    }
}

/// Returns the setting of `key` with its texts, or what is wrong with the key or the value.
fn read_pair(key: &str, value: &Spanned<DeValue<'_>>) -> Result<(&'static Setting, Vec<String>), String> {
    let Some(setting) = named(key) else {
        if is_ambiguous(key) {
            return Err(AMBIGUOUS.to_owned());
        }
        let names = || all().map(|setting| setting.name);
        let hint = match closest_match(key, names()) {
            Some(name) => format!("did you mean {name:?}?"),
            None => format!("the keys are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("{}: no such key; {hint}", printable(key)));
    };
    let texts = texts(setting, value.get_ref()).ok_or_else(|| {
        let (name, found) = (setting.name, value.get_ref().type_str());
        format!("{name}: invalid type {found}; use a string in quotes, or for a list an array of strings")
    })?;
    Ok((setting, texts))
}

/// Returns the texts of `value`: a string, an integer, true or false, and for a list also an array of strings.
fn texts(setting: &Setting, value: &DeValue<'_>) -> Option<Vec<String>> {
    let text = match value {
        DeValue::Array(items) if setting.shape == Shape::List => {
            return items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
        }
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::String(text) => text.to_string(),
        _ => return None,
    };
    Some(vec![text])
}

/// Returns the number of the line that contains the byte at `at`.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::super::table::{ACCEPT, CORS_ORIGIN, LISTEN, LOG, NO_MIGRATE, PAGE_CACHE, WAIT};
    use super::*;

    fn texts(file: &ConfigFile, setting: &Setting) -> Option<String> {
        file.get(setting).map(|raw_value| raw_value.texts.join("|"))
    }

    fn message(text: &str) -> String {
        let file = ConfigFile::parse("c.toml".to_owned(), text);
        file.errors.join("\n")
    }

    #[test]
    fn file_accepts_all_value_shapes() {
        let text = "# a comment\nlisten = \"127.0.0.1:1\"\naccept = \"oauth\"\ncors-origin = [\"a\", \"b\"]\nno-migrate = true\n";
        let file = ConfigFile::parse("c.toml".to_owned(), text);
        assert!(file.errors.is_empty(), "{:?}", file.errors);
        assert_eq!(file.get(&LISTEN).unwrap().source(), "c.toml: line 2: listen");
        let found = [&*LISTEN, &ACCEPT, &CORS_ORIGIN, &NO_MIGRATE].map(|setting| texts(&file, setting).unwrap());
        assert_eq!(found, ["127.0.0.1:1", "oauth", "a|b", "true"]);
        assert_eq!(texts(&file, &LOG), None);
    }

    #[test]
    fn size_may_be_integer_and_choice_boolean() {
        for (setting, text, value) in [
            (&*PAGE_CACHE, "'64MiB'", "64MiB"),
            (&PAGE_CACHE, "65_536", "65536"),
            (&PAGE_CACHE, "-1", "-1"),
            (&PAGE_CACHE, "0x10", "0x10"),
            (&WAIT, "true", "true"),
            (&WAIT, "false", "false"),
            (&WAIT, "'30s'", "30s"),
        ] {
            let file = ConfigFile::parse("c.toml".to_owned(), &format!("{} = {text}", setting.name));
            assert_eq!(texts(&file, setting).unwrap(), value);
        }
        assert!(message("page-cache = 1.5").contains("a string in quotes"));
    }

    #[test]
    fn errors_are_reported_in_order_of_lines_and_valid_keys_are_read() {
        let text = "lisen = '1'\nlog = 'info'\npage-cache = []\nlog-levels = 1";
        let file = ConfigFile::parse("c.toml".to_owned(), text);
        let [first, second, third] = &*file.errors else { panic!("{:?}", file.errors) };
        assert!(first.starts_with("c.toml: line 1: lisen: ") && first.ends_with("did you mean \"listen\"?"), "{first}");
        assert!(second.starts_with("c.toml: line 3: page-cache: "), "{second}");
        assert!(third.starts_with("c.toml: line 4: log-levels: "), "{third}");
        assert_eq!(texts(&file, &LOG).unwrap(), "info");
    }

    #[test]
    fn errors_name_line_and_key() {
        for (text, pieces) in [
            ("listen = \"a\"\n\nlisen = \"b\"", ["line 3: lisen:", "did you mean \"listen\"?"]),
            ("config = \"x\"", ["line 1: config:", "no such key"]),
            ("\"a\\nb\" = 1", ["line 1: a\\nb:", "no such key"]),
            ("[serve]\nlisten = \"a\"", ["line 1: serve:", "no such key"]),
            ("listen = 1.5", ["line 1: listen:", "string in quotes"]),
            ("accept = [\"oauth\", 1]", ["line 1: accept:", "array"]),
            ("log = \"info\"\nlog = \"warn\"", ["line 2:", "duplicate key"]),
            ("log = info", ["line 1:", "not TOML"]),
            ("log.level = \"info\"", ["line 1: log:", "table"]),
        ] {
            let message = message(text);
            assert!(message.starts_with("c.toml: "), "{message}");
            for piece in pieces {
                assert!(message.contains(piece), "{text:?}: {message}");
            }
        }
    }
}
