//! [`ConfigFile`]: the configuration file, strictly read.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Fault, Setting, Shape, nearest};
use crate::text::printable;

/// The settings of a configuration file, each with the line that it stands on, as far as they can be read.
#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    name: String,
    values: BTreeMap<Setting, (Value, usize)>,
    faults: Vec<Fault>,
}

/// A value of the right shape for its setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<String>),
    Flag(bool),
}

impl ConfigFile {
    /// Reads a file's text; `name` stands in messages.
    pub(crate) fn parse(name: String, text: &str) -> Self {
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let line = line_of(text, error.span().map_or(0, |span| span.start));
                let message = format!("{name}: line {line}: not TOML: {}", error.message());
                return Self::unreadable(name, message);
            }
        };
        let (mut values, mut faults) = (BTreeMap::new(), Vec::new());
        for (key, value) in table.get_ref() {
            let line = line_of(text, key.span().start);
            match read_pair(key.get_ref(), value) {
                Ok((setting, value)) => drop(values.insert(setting, (value, line))),
                Err(Fault { message, settings }) => {
                    faults.push((line, Fault { message: format!("{name}: line {line}: {message}"), settings }));
                }
            }
        }
        faults.sort_by_key(|(line, _)| *line);
        Self { name, values, faults: faults.into_iter().map(|(_, fault)| fault).collect() }
    }

    /// A file of which nothing can be read, and why.
    pub(crate) fn unreadable(name: String, message: String) -> Self {
        Self { name, values: BTreeMap::new(), faults: vec![Fault::of_all(message)] }
    }

    /// All that is wrong with it, in the order of its lines.
    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The file, as it was named.
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.name)
    }

    /// The value of a setting and where it stands.
    pub(crate) fn get(&self, setting: Setting) -> Option<(&Value, String)> {
        let (value, line) = self.values.get(&setting)?;
        Some((value, format!("{}: line {line}: {}", self.name, setting.name())))
    }
}

/// The setting of that key with its value, or what is wrong with one of them.
fn read_pair(key: &str, value: &Spanned<DeValue<'_>>) -> Result<(Setting, Value), Fault> {
    let called = |name: &str| Setting::ALL.into_iter().find(|setting| setting.name() == name);
    let Some(setting) = called(key) else {
        let meant = nearest(key, Setting::ALL.into_iter().map(Setting::name));
        let hint = match meant {
            Some(name) => format!("did you mean {name:?}?"),
            None => format!("the keys are {}", all_names()),
        };
        let message = format!("{}: no such key; {hint}", printable(key));
        return Err(Fault { message, settings: meant.and_then(called).into_iter().collect() });
    };
    let shaped = shaped(setting, value).ok_or_else(|| {
        let (name, found) = (setting.name(), value.get_ref().type_str());
        let message = format!("{name}: the value is of type {found}; write {}", right(setting));
        Fault { message, settings: vec![setting] }
    })?;
    Ok((setting, shaped))
}

/// The value, where it has the setting's shape.
fn shaped(setting: Setting, value: &Spanned<DeValue<'_>>) -> Option<Value> {
    match (setting.shape(), value.get_ref()) {
        (Shape::Text | Shape::Size | Shape::Choice, DeValue::String(text)) => Some(Value::Text(text.to_string())),
        (Shape::Size, DeValue::Integer(number)) => Some(Value::Text(number.to_string())),
        (Shape::Choice, DeValue::Boolean(flag)) => Some(Value::Text(flag.to_string())),
        (Shape::List, DeValue::String(text)) => Some(Value::List(vec![text.to_string()])),
        (Shape::List, DeValue::Array(items)) => {
            let items = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            items.collect::<Option<_>>().map(Value::List)
        }
        (Shape::Flag, DeValue::Boolean(flag)) => Some(Value::Flag(*flag)),
        _ => None,
    }
}

/// What a value of the setting's shape looks like.
fn right(setting: Setting) -> &'static str {
    match setting.shape() {
        Shape::Text => "a string in quotes",
        Shape::Size => "a number, or a string in quotes",
        Shape::List => "a string in quotes, or an array of them",
        Shape::Flag => "true or false",
        Shape::Choice => "true, false, or a string in quotes",
    }
}

fn all_names() -> String {
    Setting::ALL.map(Setting::name).join(", ")
}

/// The number of the line with the byte at `at`.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let file = ConfigFile::parse("c.toml".to_owned(), text);
        file.faults().iter().map(|fault| &*fault.message).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn reads_every_shape() {
        let text = "# a comment\nlisten = \"127.0.0.1:1\"\naccept = \"oauth\"\ncors-origin = [\"a\", \"b\"]\nno-migrate = true\n";
        let file = ConfigFile::parse("c.toml".to_owned(), text);
        assert_eq!(file.faults(), []);
        let (value, place) = file.get(Setting::Listen).unwrap();
        assert_eq!((value, &*place), (&Value::Text("127.0.0.1:1".to_owned()), "c.toml: line 2: listen"));
        assert_eq!(file.get(Setting::Accept).unwrap().0, &Value::List(vec!["oauth".to_owned()]));
        assert_eq!(file.get(Setting::CorsOrigin).unwrap().0, &Value::List(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(file.get(Setting::NoMigrate).unwrap().0, &Value::Flag(true));
        assert!(file.get(Setting::Log).is_none());
    }

    #[test]
    fn a_size_may_be_a_number() {
        for (text, value) in [("'64MiB'", "64MiB"), ("65_536", "65536"), ("-1", "-1"), ("0x10", "0x10")] {
            let file = ConfigFile::parse("c.toml".to_owned(), &format!("page-cache = {text}"));
            assert_eq!(file.get(Setting::PageCache).unwrap().0, &Value::Text(value.to_owned()));
        }
        assert!(message("page-cache = 1.5").contains("a number, or a string in quotes"));
    }

    #[test]
    fn a_choice_may_be_true_or_false() {
        for (text, value) in [("true", "true"), ("false", "false"), ("'30s'", "30s")] {
            let file = ConfigFile::parse("c.toml".to_owned(), &format!("wait = {text}"));
            assert_eq!(file.get(Setting::Wait).unwrap().0, &Value::Text(value.to_owned()));
        }
        assert!(message("wait = 30").contains("true, false, or a string in quotes"));
    }

    #[test]
    fn all_faults_are_told_in_the_order_of_their_lines() {
        let text = message("lisen = '1'\nlog = 'info'\npage-cache = []\nlog-levels = 1");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].starts_with("c.toml: line 1: lisen: ") && lines[0].ends_with("did you mean \"listen\"?"));
        assert!(lines[1].starts_with("c.toml: line 3: page-cache: "));
        assert!(lines[2].starts_with("c.toml: line 4: log-levels: "));
    }

    #[test]
    fn what_is_right_is_read_beside_what_is_wrong() {
        let file = ConfigFile::parse("c.toml".to_owned(), "tls-crt = 'x'\nlog = 'warn'\naccept = 1\npassword = 2");
        assert_eq!(file.get(Setting::Log).unwrap().0, &Value::Text("warn".to_owned()));
        let settings: Vec<_> = file.faults().iter().map(|fault| &*fault.settings).collect();
        assert_eq!(settings, [&[Setting::TlsCert][..], &[Setting::Accept], &[]]);
        assert_eq!(ConfigFile::parse("c.toml".to_owned(), "log: info").faults()[0].settings, Setting::ALL);
    }

    #[test]
    fn names_the_line_and_the_key() {
        for (text, pieces) in [
            ("listen = \"a\"\n\nlisen = \"b\"", ["line 3: lisen:", "did you mean \"listen\"?"]),
            ("config = \"x\"", ["line 1: config:", "no such key"]),
            ("\"a\\nb\" = 1", ["line 1: a\\nb:", "no such key"]),
            ("[serve]\nlisten = \"a\"", ["line 1: serve:", "no such key"]),
            ("listen = 8080", ["line 1: listen:", "string in quotes"]),
            ("\nno-migrate = \"true\"", ["line 2: no-migrate:", "true or false"]),
            ("accept = [\"oauth\", 1]", ["line 1: accept:", "array"]),
            ("log = true", ["line 1: log:", "boolean"]),
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
