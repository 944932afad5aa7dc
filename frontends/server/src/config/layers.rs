//! [`Layers`]: what the environment and the configuration file add to a command line.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use super::file::{ConfigFile, Value};
use super::{Fault, Setting, Shape, secret};
use crate::exit::Failure;

/// The variable that names the configuration file.
const CONFIG_VARIABLE: &str = "CATALOGUE_CONFIG";

/// The environment and the configuration file, to be asked below the command line. Only what a command asks for
/// matters to it: a wrong value of another command's option is not even read.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    variables: HashMap<String, OsString>,
    file: ConfigFile,
    /// Of a command that checks what others take.
    options: BTreeMap<Setting, Value>,
    left_out: BTreeSet<Setting>,
    told: secret::Told,
}

/// A value, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sourced<T> {
    /// The value.
    pub(crate) value: T,
    /// The option, the variable, or the file's line; empty for a default.
    pub(crate) source: String,
}

impl<T> Sourced<T> {
    /// A value that nobody gave.
    pub(crate) fn default(value: T) -> Self {
        Self { value, source: String::new() }
    }

    /// Something else from the same source.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: change(self.value), source: self.source }
    }

    /// The value as something else; where it cannot be, the configuration is wrong, and the source says where.
    pub(crate) fn parse<U, E: Display>(self, parse: impl FnOnce(&T) -> Result<U, E>) -> Result<U, Failure> {
        parse(&self.value).map_err(|error| self.wrong(&error))
    }

    /// Says that the value is wrong.
    pub(crate) fn wrong(&self, what: &dyn Display) -> Failure {
        if self.source.is_empty() {
            return Failure::usage(what.to_string());
        }
        Failure::usage(format!("{}: {what}", self.source))
    }
}

impl Layers {
    /// The layers of this process, as far as they can be read; `config` is what `--config` says.
    pub(crate) fn of_this_process(config: Option<PathBuf>) -> Self {
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self::read(variables.filter(|(name, _)| name.starts_with("CATALOGUE_")).collect(), config)
    }

    fn read(variables: HashMap<String, OsString>, config: Option<PathBuf>) -> Self {
        let option = config.map(|path| Sourced { value: path, source: "--config".to_owned() });
        let variable = || {
            let path = variables.get(CONFIG_VARIABLE).filter(|path| !path.is_empty())?;
            Some(Sourced { value: path.into(), source: CONFIG_VARIABLE.to_owned() })
        };
        let file = option.or_else(variable).map(read_file).unwrap_or_default();
        Self { variables, file, ..Self::default() }
    }

    /// The same layers, where nothing is wrong with the configuration file; all that is wrong is said at once, a line each.
    pub(crate) fn sound(self) -> Result<Self, Failure> {
        let faults: Vec<_> = self.file.faults().iter().map(|fault| &*fault.message).collect();
        if faults.is_empty() { Ok(self) } else { Err(Failure::usage(faults.join("\n"))) }
    }

    /// What is wrong with the configuration file.
    pub(crate) fn file_faults(&self) -> &[Fault] {
        self.file.faults()
    }

    /// The same layers below options of a command line.
    pub(crate) fn below(self, options: BTreeMap<Setting, Value>) -> Self {
        Self { options, ..self }
    }

    /// The configuration file, where an address stands in it that may hold a password.
    pub(crate) fn file_with_secrets(&self) -> Option<&Path> {
        let holds = |text: &String| text.contains('@') || text.contains("password");
        let secret = |setting: &Setting| {
            setting.is_secret()
                && match self.file.get(*setting) {
                    Some((Value::Text(text), _)) => holds(text),
                    Some((Value::List(items), _)) => items.iter().any(holds),
                    _ => false,
                }
        };
        Setting::ALL.iter().any(secret).then(|| self.file.path())
    }

    /// The files that stand for values.
    pub(crate) fn secret_files(&self) -> Vec<PathBuf> {
        let files = |setting| match self.found(setting, None) {
            Ok(Some(Sourced { value: Value::Text(text), .. })) => split(&[text]),
            Ok(Some(Sourced { value: Value::List(items), .. })) => split(&items),
            _ => Vec::new(),
        };
        let values = Setting::ALL.into_iter().filter(|setting| setting.is_secret()).flat_map(files);
        values.filter_map(|value| secret::file_of(&value).map(Path::to_owned)).collect()
    }

    /// From now on nobody has given the setting.
    pub(crate) fn leave_out(&mut self, setting: Setting) {
        self.left_out.insert(setting);
    }

    /// The settings whose sources a message begins with.
    pub(crate) fn blamed_by(&self, message: &str) -> Vec<Setting> {
        let mut blamed = Vec::new();
        let mut rest = Some(message);
        while let Some(text) = rest {
            let named =
                Setting::ALL.into_iter().find_map(|setting| Some((setting, self.behind_source(setting, text)?)));
            let Some((setting, behind)) = named else { break };
            blamed.push(setting);
            rest = behind.strip_prefix(" and ");
        }
        blamed
    }

    /// What stands behind a source of the setting at the beginning of a message.
    fn behind_source<'a>(&self, setting: Setting, message: &'a str) -> Option<&'a str> {
        let sources = [Some(format!("--{}", setting.name())), Some(setting.variable())];
        let sources = sources.into_iter().chain([self.file.get(setting).map(|(_, source)| source)]).flatten();
        let mut behind = sources.filter_map(|source| message.strip_prefix(&source));
        behind.find(|behind| behind.starts_with([':', ',', ' ']))
    }

    /// The variables that could be settings by their name.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(|name| &**name).filter(|name| *name != CONFIG_VARIABLE)
    }

    /// A setting of one text.
    pub(crate) fn text(&self, setting: Setting, given: Option<String>) -> Result<Option<Sourced<String>>, Failure> {
        debug_assert!(matches!(setting.shape(), Shape::Text | Shape::Size | Shape::Choice));
        let found = match self.found(setting, given.map(Value::Text))? {
            Some(Sourced { value: Value::Text(value), source }) => Sourced { value, source },
            _ => return Ok(None),
        };
        let Some(path) = secret::file_of(&found.value).filter(|_| setting.is_secret()).map(Path::to_owned) else {
            return Ok(Some(found));
        };
        let source = format!("{}, file {}", found.source, path.display());
        Ok(Some(Sourced { value: found.parse(|_| secret::read(&path, &self.told))?, source }))
    }

    /// A setting of several texts: those of the highest layer that gives any.
    pub(crate) fn list(&self, setting: Setting, given: Vec<String>) -> Result<Option<Sourced<Vec<String>>>, Failure> {
        debug_assert_eq!(setting.shape(), Shape::List);
        let given = Some(given).filter(|given| !given.is_empty()).map(Value::List);
        let (items, source) = match self.found(setting, given)? {
            Some(Sourced { value: Value::List(items), source }) => (items, source),
            Some(Sourced { value: Value::Text(item), source }) => (vec![item], source),
            _ => return Ok(None),
        };
        let items = Sourced { value: split(&items), source };
        if !setting.is_secret() {
            return Ok(Some(items));
        }
        let opened = |item: &String| match secret::file_of(item) {
            Some(path) => secret::read(path, &self.told).map(|text| split(&[text])),
            None => Ok(vec![item.clone()]),
        };
        let source = items.source.clone();
        let value = items.parse(|items| items.iter().map(opened).collect::<Result<Vec<_>, _>>())?.concat();
        Ok(Some(Sourced { value, source }))
    }

    /// A setting that is on or off; off where no layer says anything.
    pub(crate) fn flag(&self, setting: Setting, given: bool) -> Result<bool, Failure> {
        Ok(self.sourced_flag(setting, given)?.is_some_and(|flag| flag.value))
    }

    /// The same, with where it comes from.
    pub(super) fn sourced_flag(&self, setting: Setting, given: bool) -> Result<Option<Sourced<bool>>, Failure> {
        debug_assert_eq!(setting.shape(), Shape::Flag);
        let Some(Sourced { value, source }) = self.found(setting, given.then_some(Value::Flag(true)))? else {
            return Ok(None);
        };
        let value = match value {
            Value::Flag(flag) => flag,
            Value::Text(text) => Sourced { value: text, source: source.clone() }.parse(|text| match text.as_str() {
                "true" | "1" => Ok(true),
                "false" | "0" => Ok(false),
                _ => Err(format!("{text:?} is neither true nor false; write one of them")),
            })?,
            Value::List(_) => return Ok(None),
        };
        Ok(Some(Sourced { value, source }))
    }

    /// What the highest layer says that says anything.
    fn found(&self, setting: Setting, given: Option<Value>) -> Result<Option<Sourced<Value>>, Failure> {
        if self.left_out.contains(&setting) {
            return Ok(None);
        }
        if let Some(value) = given.or_else(|| self.options.get(&setting).cloned()) {
            return Ok(Some(Sourced { value, source: format!("--{}", setting.name()) }));
        }
        if let Some(Sourced { value, source }) = self.variable(setting)? {
            return Ok(Some(Sourced { value: Value::Text(value), source }));
        }
        Ok(self.file.get(setting).map(|(value, source)| Sourced { value: value.clone(), source }))
    }

    /// The setting's variable. An empty one counts as one that is not set.
    fn variable(&self, setting: Setting) -> Result<Option<Sourced<String>>, Failure> {
        let source = setting.variable();
        let Some(value) = self.variables.get(&source).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        match value.to_str() {
            Some(text) => Ok(Some(Sourced { value: text.to_owned(), source })),
            None => Err(Failure::usage(format!("{source}: the value is not UTF-8"))),
        }
    }
}

fn read_file(path: Sourced<PathBuf>) -> ConfigFile {
    let name = path.value.display().to_string();
    let text = path.parse(|path| {
        fs::read_to_string(path).map_err(|error| format!("the configuration file {name} cannot be read: {error}"))
    });
    match text {
        Ok(text) => ConfigFile::parse(name, &text),
        Err(failure) => ConfigFile::unreadable(name, failure.message().to_owned()),
    }
}

fn split(items: &[String]) -> Vec<String> {
    let separator = |character: char| character == ',' || character.is_ascii_whitespace();
    items.iter().flat_map(|item| item.split(separator)).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(variables: &[(&str, &str)], file: &str) -> Layers {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
        let file = ConfigFile::parse("c.toml".to_owned(), file);
        Layers { variables, file, ..Layers::default() }.sound().unwrap()
    }

    fn strings(items: &[&str]) -> Vec<String> {
        items.iter().map(|&item| item.to_owned()).collect()
    }

    #[test]
    fn texts_come_from_the_highest_layer() {
        let get = |given: Option<&str>, variables: &[(&str, &str)], file| {
            let found = layers(variables, file).text(Setting::BaseUrl, given.map(str::to_owned)).unwrap();
            found.map(|Sourced { value, source }| format!("{source} = {value}"))
        };
        let (variable, file) = ([("CATALOGUE_BASE_URL", "/env")], "base-url = '/file'");
        assert_eq!(get(Some("/line"), &variable, file).unwrap(), "--base-url = /line");
        assert_eq!(get(None, &variable, file).unwrap(), "CATALOGUE_BASE_URL = /env");
        assert_eq!(get(None, &[], file).unwrap(), "c.toml: line 1: base-url = /file");
        assert_eq!(get(None, &[("CATALOGUE_BASE_URL", "")], file).unwrap(), "c.toml: line 1: base-url = /file");
        assert_eq!(get(None, &[("CATALOGUE_DOCS_URL", "/env")], ""), None);
    }

    #[test]
    fn lists_replace_those_of_lower_layers() {
        let get = |given: &[&str], variables: &[(&str, &str)], file| {
            let found = layers(variables, file).list(Setting::Accept, strings(given)).unwrap();
            found.map(|found| found.value)
        };
        let (variable, file) = ([("CATALOGUE_ACCEPT", "b, c\td")], "accept = ['e', 'f']");
        assert_eq!(get(&["a"], &variable, file), Some(strings(&["a"])));
        assert_eq!(get(&["a,x", "y z"], &[], file), Some(strings(&["a", "x", "y", "z"])));
        assert_eq!(get(&[], &variable, file), Some(strings(&["b", "c", "d"])));
        assert_eq!(get(&[], &[], file), Some(strings(&["e", "f"])));
        assert_eq!(get(&[], &[], "accept = 'e f'"), Some(strings(&["e", "f"])));
        assert_eq!(get(&[], &[("CATALOGUE_ACCEPT", "")], file), Some(strings(&["e", "f"])));
        assert_eq!(get(&[], &[("CATALOGUE_ACCEPT", "")], ""), None);
        assert_eq!(get(&[], &[], "accept = []"), Some(Vec::new()));
        assert_eq!(get(&[], &[], ""), None);
    }

    #[test]
    fn flags_can_be_switched_off_again() {
        let get = |given, variable: Option<&str>, file| {
            let variables: Vec<_> = variable.into_iter().map(|value| ("CATALOGUE_NO_MIGRATE", value)).collect();
            layers(&variables, file).flag(Setting::NoMigrate, given)
        };
        let on = "no-migrate = true";
        assert_eq!(get(true, Some("false"), "no-migrate = false"), Ok(true));
        assert_eq!(get(false, Some("true"), "no-migrate = false"), Ok(true));
        assert_eq!(get(false, Some("false"), on), Ok(false));
        assert_eq!(get(false, Some("0"), on), Ok(false));
        assert_eq!(get(false, Some(""), on), Ok(true));
        assert_eq!(get(false, None, on), Ok(true));
        assert_eq!(get(false, None, ""), Ok(false));
        assert!(
            matches!(get(false, Some("yes!"), on), Err(Failure::Usage(text)) if text.contains("CATALOGUE_NO_MIGRATE"))
        );
    }

    #[test]
    fn a_message_names_the_settings_that_it_is_about() {
        let layers = layers(&[], "log = 'x'\ndocs-url = '/x'");
        for (message, blamed) in [
            ("--listen: wrong", vec![Setting::Listen]),
            ("CATALOGUE_BASE_URL and c.toml: line 2: docs-url: same", vec![Setting::BaseUrl, Setting::DocsUrl]),
            ("CATALOGUE_DATABASE, file /x: wrong", vec![Setting::Database]),
            ("--rate-limit-store: no --rate-limit", vec![Setting::RateLimitStore]),
            ("c.toml: line 1: wrong", vec![]),
        ] {
            assert_eq!(layers.blamed_by(message), blamed, "{message}");
        }
    }

    #[test]
    fn an_address_may_stand_in_a_file_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "postgres://u:p@one/n\npostgres://u:p@two/n\n").unwrap();
        let value = format!("file:{}", path.display());
        let layers = layers(&[("CATALOGUE_DATABASE_REPLICAS", &value), ("CATALOGUE_LOG", &value)], "");
        let found = layers.list(Setting::DatabaseReplicas, Vec::new()).unwrap().unwrap();
        assert_eq!(found.value, ["postgres://u:p@one/n", "postgres://u:p@two/n"]);
        assert_eq!(layers.text(Setting::Log, None).unwrap().unwrap().value, value, "which holds no secret");
        fs::write(&path, "sqlite:a.db\n").unwrap();
        let found = layers.text(Setting::Database, Some(value)).unwrap().unwrap();
        assert_eq!(found.value, "sqlite:a.db");
        assert!(found.source.starts_with("--database, file /"), "{found:?}");
        let missing = layers.text(Setting::Database, Some("file:/no/such".to_owned()));
        assert!(matches!(missing, Err(Failure::Usage(text)) if text.starts_with("--database: the file /no/such")));
    }

    #[cfg(unix)]
    #[test]
    fn only_what_is_asked_for_matters() {
        use std::os::unix::ffi::OsStringExt;

        let mut layers = layers(&[("CATALOGUE_LISTEN", "nonsense"), ("CATALOGUE_OTHER", "x")], "");
        layers.variables.insert("CATALOGUE_LOG".to_owned(), OsString::from_vec(vec![0xff]));
        assert_eq!(layers.text(Setting::Database, None), Ok(None));
        assert!(matches!(layers.text(Setting::Log, None), Err(Failure::Usage(text)) if text.contains("CATALOGUE_LOG")));
    }

    #[test]
    fn a_missing_file_is_a_wrong_configuration() {
        let variables = |path: &str| HashMap::from([(CONFIG_VARIABLE.to_owned(), path.into())]);
        let missing = "/no/such/directory/c.toml";
        for (read, source) in [
            (Layers::read(variables(missing), None), CONFIG_VARIABLE),
            (Layers::read(HashMap::new(), Some(missing.into())), "--config"),
        ] {
            let Err(Failure::Usage(text)) = read.sound() else { panic!("{source}") };
            assert!(text.starts_with(&format!("{source}: ")) && text.contains(missing), "{text}");
        }
        assert!(Layers::read(variables(""), None).sound().is_ok());
    }
}
