//! [`Layers`]: settings on the command line, in the environment and in the configuration file.

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::file::ConfigFile;
use super::{Setting, Shape, secret, table};

/// Environment variable that names the configuration file.
const CONFIG_VARIABLE: &str = "CATALOGUE_CONFIG";

/// Settings on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandLine {
    /// Texts, by the name of the setting.
    pub(crate) options: BTreeMap<&'static str, Vec<String>>,
    /// Value of `--config`.
    pub(crate) config: Option<PathBuf>,
}

/// Command line, environment and configuration file: each overrides the next. Only values that a command uses are parsed.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) command_line: CommandLine,
    variables: HashMap<String, OsString>,
    pub(super) file: ConfigFile,
}

/// Texts of a setting, and their source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawValue {
    /// One text, unless the setting is a list.
    pub(super) texts: Vec<String>,
    /// The option, the variable, or the line of the file; and the secret file that it names, if any.
    pub(super) location: String,
    /// The key, if `location` is only a line of the configuration file.
    pub(super) key: Option<&'static str>,
}

impl RawValue {
    /// Returns the source, for a message that does not name the setting.
    pub(super) fn source(&self) -> String {
        self.key.map_or_else(|| self.location.clone(), |key| format!("{}: {key}", self.location))
    }
}

impl Layers {
    /// Reads the layers of this process, as far as possible.
    pub(super) fn from_process(command_line: CommandLine) -> Self {
        let variables = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Self::read(command_line, variables.filter(|(name, _)| name.starts_with("CATALOGUE_")).collect())
    }

    fn read(command_line: CommandLine, variables: HashMap<String, OsString>) -> Self {
        let option = command_line.config.as_deref().map(|path| (path, "--config"));
        let variable = variables.get(CONFIG_VARIABLE).filter(|path| !path.is_empty());
        let path = option.or_else(|| Some((Path::new(variable?), CONFIG_VARIABLE)));
        let file = path.map(|(path, source)| read_file(path, source)).unwrap_or_default();
        Self { command_line, variables, file }
    }

    /// Returns the files that should be secret: the files named by `file:` values, and a configuration file with a password.
    pub(crate) fn secret_files(&self) -> Vec<PathBuf> {
        let secrets = || table::all().filter(|setting| setting.is_secret);
        let raw_value = secrets().filter_map(|setting| self.raw_value(setting).ok()?);
        let texts = raw_value.flat_map(|raw_value| split(&raw_value.texts));
        let named: Vec<_> = texts.filter_map(|text| secret::file_of(&text).map(Path::to_owned)).collect();
        let holds = |text: &String| text.contains('@') || text.contains("password");
        let in_file = secrets().filter_map(|setting| self.file.get(setting)).any(|raw| raw.texts.iter().any(holds));
        named.into_iter().chain(in_file.then(|| PathBuf::from(&self.file.name))).collect()
    }

    /// Returns the names of the variables that begin with `CATALOGUE_`, except [`CONFIG_VARIABLE`].
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(|name| &**name).filter(|name| *name != CONFIG_VARIABLE)
    }

    /// Returns the texts from the highest layer that has the setting, or what is wrong there. Reads files named by `file:`.
    pub(super) fn find(&self, setting: &Setting) -> Result<Option<RawValue>, String> {
        let Some(raw_value) = self.raw_value(setting)? else { return Ok(None) };
        let (source, is_list) = (raw_value.source(), setting.shape == Shape::List);
        let texts = if is_list { split(&raw_value.texts) } else { raw_value.texts };
        let mut resolved = RawValue { texts: Vec::new(), ..raw_value };
        for text in texts {
            let Some(path) = secret::file_of(&text).filter(|_| setting.is_secret) else {
                if setting.shape == Shape::Secret {
                    return Err(format!("{source}: readable by other users; use file:PATH with the secret in it"));
                }
                resolved.texts.push(text);
                continue;
            };
            let read = secret::read(path).map_err(|error| format!("{source}: {error}"))?;
            if is_list {
                resolved.texts.extend(split(&[read]));
            } else {
                resolved =
                    RawValue { texts: vec![read], location: format!("{source}, file {}", path.display()), key: None };
            }
        }
        Ok(Some(resolved))
    }

    /// Returns the texts from the highest layer that has the setting. An empty variable counts as not set.
    fn raw_value(&self, setting: &Setting) -> Result<Option<RawValue>, String> {
        if let Some(texts) = self.command_line.options.get(setting.name) {
            return Ok(Some(RawValue { texts: texts.clone(), location: format!("--{}", setting.name), key: None }));
        }
        let location = setting.variable();
        if let Some(value) = self.variables.get(&location).filter(|value| !value.is_empty()) {
            let text = value.to_str().ok_or_else(|| format!("{location}: the value is not UTF-8"))?;
            return Ok(Some(RawValue { texts: vec![text.to_owned()], location, key: None }));
        }
        Ok(self.file.get(setting))
    }
}

fn read_file(path: &Path, source: &str) -> ConfigFile {
    let name = path.display().to_string();
    // Reading a device could last forever, so it is refused; but `/dev/null` stands for an empty file.
    let bytes = if path == Path::new("/dev/null") { Ok(Vec::new()) } else { catalogue_hyper::read_short_file(path) };
    let text = bytes.map(String::from_utf8);
    let message = match &text {
        Ok(Ok(text)) => return ConfigFile::parse(name, text),
        Ok(Err(error)) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            format!("{name}: line {line}: not UTF-8; save the file as UTF-8")
        }
        Err(error) => format!("{source}: cannot read the configuration file {name}: {error}"),
    };
    ConfigFile::unreadable(name, message)
}

fn split(items: &[String]) -> Vec<String> {
    let separator = |character: char| character == ',' || character.is_ascii_whitespace();
    items.iter().flat_map(|item| item.split(separator)).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::table::{ACCEPT, BASE_URL, DATABASE, DATABASE_REPLICAS, LOG};
    use super::*;

    impl Layers {
        /// Creates layers with these contents; the file is called `c.toml`.
        pub(in super::super) fn of(
            options: &[(&'static str, &[&str])],
            variables: &[(&str, &str)],
            file: &str,
        ) -> Self {
            let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
            let options = options.iter().map(|&(name, given)| (name, texts(given))).collect();
            let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
            let command_line = CommandLine { options, config: None };
            Self { command_line, variables, file: ConfigFile::parse("c.toml".to_owned(), file) }
        }

        pub(in super::super) fn set_variable(&mut self, name: &str, value: OsString) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    fn resolved(layers: &Layers, setting: &Setting) -> Option<String> {
        layers.find(setting).unwrap().map(|raw_value| format!("{} = {}", raw_value.source(), raw_value.texts.join("|")))
    }

    #[test]
    fn value_is_taken_from_highest_layer() {
        let get = |options: &[_], variables: &[_], file| resolved(&Layers::of(options, variables, file), &BASE_URL);
        let (variable, file) = ([("CATALOGUE_BASE_URL", "/env")], "base-url = '/file'");
        assert_eq!(get(&[("base-url", &["/line"])], &variable, file).unwrap(), "--base-url = /line");
        assert_eq!(get(&[], &variable, file).unwrap(), "CATALOGUE_BASE_URL = /env");
        assert_eq!(get(&[], &[], file).unwrap(), "c.toml: line 1: base-url = /file");
        assert_eq!(get(&[], &[("CATALOGUE_BASE_URL", "")], file).unwrap(), "c.toml: line 1: base-url = /file");
        assert_eq!(get(&[], &[("CATALOGUE_DOCS_URL", "/env")], ""), None);
    }

    #[test]
    fn lists_replace_lists_of_lower_layers() {
        let get = |given: &[&str], variables: &[_], file| {
            let options = [("accept", given)];
            let layers = Layers::of(if given.is_empty() { &[] } else { &options }, variables, file);
            layers.find(&ACCEPT).unwrap().map(|raw_value| raw_value.texts.join("|"))
        };
        let (variable, empty) = ([("CATALOGUE_ACCEPT", "b, c\td")], [("CATALOGUE_ACCEPT", "")]);
        let file = "accept = ['e', 'f']";
        for (resolved, expected) in [
            (get(&["a"], &variable, file), Some("a")),
            (get(&["a,x", "y z"], &[], file), Some("a|x|y|z")),
            (get(&[], &variable, file), Some("b|c|d")),
            (get(&[], &[], file), Some("e|f")),
            (get(&[], &[], "accept = 'e f'"), Some("e|f")),
            (get(&[], &empty, file), Some("e|f")),
            (get(&[], &empty, ""), None),
            (get(&[], &[], "accept = []"), Some("")),
            (get(&[], &[], ""), None),
        ] {
            assert_eq!(resolved.as_deref(), expected);
        }
    }

    #[test]
    fn address_may_be_read_from_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "postgres://u:p@one/n\npostgres://u:p@two/n\n").unwrap();
        let value = format!("file:{}", path.display());
        let variables = [("CATALOGUE_DATABASE_REPLICAS", &*value), ("CATALOGUE_LOG", &value)];
        let layers = || Layers::of(&[("database", &[&value])], &variables, "");
        let replicas = resolved(&layers(), &DATABASE_REPLICAS).unwrap();
        assert_eq!(replicas, "CATALOGUE_DATABASE_REPLICAS = postgres://u:p@one/n|postgres://u:p@two/n");
        assert_eq!(resolved(&layers(), &LOG).unwrap(), format!("CATALOGUE_LOG = {value}"), "not a secret setting");
        fs::write(&path, "sqlite:a.db\n").unwrap();
        assert_eq!(
            resolved(&layers(), &DATABASE).unwrap(),
            format!("--database, file {} = sqlite:a.db", path.display())
        );
        fs::remove_file(&path).unwrap();
        assert!(layers().find(&DATABASE).unwrap_err().starts_with("--database: cannot read /"));
    }

    #[test]
    fn missing_file_error_names_its_source() {
        let variables = |path: &str| HashMap::from([(CONFIG_VARIABLE.to_owned(), path.into())]);
        let missing = "/no/such/directory/c.toml";
        let option = CommandLine { config: Some(missing.into()), ..CommandLine::default() };
        for (layers, source) in [
            (Layers::read(CommandLine::default(), variables(missing)), CONFIG_VARIABLE),
            (Layers::read(option, HashMap::new()), "--config"),
        ] {
            let text = &layers.file.errors[0];
            assert!(text.starts_with(&format!("{source}: ")) && text.contains(missing), "{text}");
        }
        assert!(Layers::read(CommandLine::default(), variables("")).file.errors.is_empty());
    }
}
