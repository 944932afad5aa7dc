//! [`Settings`]: typed values, and all problems found in them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;

use super::layers::{CommandLine, Layers, RawValue};
use super::table::{COURSES_DATABASE, COURSES_SCHEMA, DATABASE, DATABASE_POOLER, DATABASE_SCHEMA, NO_MIGRATE, VIEWS};
use super::{Entry, Setting, Shape};
use crate::database::{Database, Migration, PostgresOptions};
use crate::exit::{Failure, sanitized};
use crate::redaction::{AMBIGUOUS, is_ambiguous};

/// The settings of this process. Problems of a value are collected when it is read, and reported together by
/// [`finish`](Self::finish). Values of options that the command does not use are not read.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) layers: Layers,
    /// Values read so far, by the name of the setting: a command may use a value again, but a pipe can be read only once.
    raw_values: RefCell<BTreeMap<&'static str, Option<RawValue>>>,
    /// Problems of single values.
    errors: RefCell<Vec<String>>,
    /// Settings that conflict with each other. Reported only if all values are valid: an invalid one may be the cause.
    conflicts: RefCell<Vec<String>>,
}

impl Settings {
    /// Creates the settings of this process.
    pub(crate) fn from_process(command_line: CommandLine) -> Self {
        Self { layers: Layers::from_process(command_line), ..Self::default() }
    }

    /// Returns the effective value: the default if none or an invalid one is given.
    ///
    /// # Panics
    /// Panics if the setting has no default.
    pub(crate) fn get<T>(&self, entry: &'static Entry<T>) -> T {
        self.given(entry).unwrap_or_else(|| entry.default_value())
    }

    /// Returns the given value; `None` if none or an invalid one is given.
    pub(crate) fn given<T>(&self, entry: &'static Entry<T>) -> Option<T> {
        let texts = self.raw_value(entry)?.texts;
        let is_refused = texts.iter().any(|text| is_ambiguous(text));
        let value = if is_refused { Err(AMBIGUOUS.to_owned()) } else { entry.parse(&texts) };
        value.map_err(|error| self.error(&[&entry.setting], &error)).ok()
    }

    /// Returns the effective text, unparsed, or the default's description.
    pub(crate) fn text(&self, setting: &'static Setting) -> Option<String> {
        let given = self.raw_value(setting).and_then(|raw_value| raw_value.texts.into_iter().next());
        given.or_else(|| setting.default_text().map(str::to_owned))
    }

    fn raw_value(&self, setting: &'static Setting) -> Option<RawValue> {
        let mut raw_values = self.raw_values.borrow_mut();
        let find = || self.layers.find(setting).map_err(|error| self.errors.borrow_mut().push(error)).ok().flatten();
        raw_values.entry(setting.name).or_insert_with(find).clone()
    }

    /// Records a problem of the values of settings.
    pub(crate) fn error(&self, settings: &[&'static Setting], what: &dyn Display) {
        self.push_unique(&self.errors, self.sourced(settings, what));
    }

    /// Records that settings conflict with each other.
    pub(crate) fn conflict(&self, settings: &[&'static Setting], what: &dyn Display) {
        self.push_unique(&self.conflicts, self.sourced(settings, what));
    }

    fn push_unique(&self, errors: &RefCell<Vec<String>>, message: String) {
        // A value may be read more than once.
        if !errors.borrow().contains(&message) {
            errors.borrow_mut().push(message);
        }
    }

    /// Returns whether a value is given.
    pub(crate) fn is_given(&self, setting: &'static Setting) -> bool {
        self.raw_value(setting).is_some()
    }

    /// Returns `what`, prefixed with the sources of the settings that are given.
    pub(crate) fn sourced(&self, settings: &[&'static Setting], what: &dyn Display) -> String {
        let sources = settings.iter().filter_map(|setting| Some(self.raw_value(setting)?.source()));
        format!("{}: {what}", sources.collect::<Vec<_>>().join(" and "))
    }

    /// Fails with all problems of the configuration file and of the values read so far, if there are any.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        let mut messages = self.layers.file.errors.clone();
        messages.extend(self.errors.borrow().iter().cloned());
        if messages.is_empty() {
            messages.extend(self.conflicts.borrow().iter().cloned());
        }
        if messages.is_empty() { Ok(()) } else { Err(Failure::errors(messages.into_iter())) }
    }

    /// Returns the given value, if any, without secrets, and the source of the effective value.
    pub(crate) fn display(&self, setting: &'static Setting) -> (Option<Vec<String>>, String) {
        let Some(RawValue { texts, location, .. }) = self.raw_value(setting) else {
            return (None, "default".to_owned());
        };
        let display = |text: &String| if setting.shape == Shape::Secret { "…".to_owned() } else { sanitized(text) };
        (Some(texts.iter().map(display).collect()), location)
    }

    /// Returns the given or the default database, with the location of its courses.
    pub(crate) fn database(&self) -> Database {
        apply_to(self.named_database().unwrap_or_else(|| DATABASE.default_value()), self)
    }

    /// Returns the given database, if any.
    pub(crate) fn named_database(&self) -> Option<Database> {
        let through_pooler = self.get(&DATABASE_POOLER);
        let database = self.given(&DATABASE)?;
        Some(if through_pooler { database.with(PostgresOptions::through_transaction_pooler) } else { database })
    }

    /// Returns whether a missing database may be created and an older one migrated.
    pub(crate) fn migration(&self) -> Migration {
        if self.get(&NO_MIGRATE) { Migration::Forbidden } else { Migration::Allowed }
    }
}

/// Applies the options about schemas and the location of courses to `database`.
fn apply_to(database: Database, settings: &Settings) -> Database {
    let (views, schema) = (settings.get(&VIEWS), settings.given(&DATABASE_SCHEMA));
    let (views_schema, file) = (settings.get(&COURSES_SCHEMA), settings.given(&COURSES_DATABASE));
    let is_postgres = matches!(database, Database::Postgres(_));
    let refuse_unused = |setting: &'static Setting, what: &str| {
        if settings.is_given(setting) {
            settings.conflict(&[setting], &what);
        }
    };
    if !views {
        let what = "no effect without views; add --courses views, or remove this option";
        refuse_unused(&COURSES_SCHEMA, what);
        refuse_unused(&COURSES_DATABASE, what);
    }
    if is_postgres && views {
        let what = "PostgreSQL views are in the database of --database; use --courses-schema for their schema";
        refuse_unused(&COURSES_DATABASE, what);
    } else if !is_postgres {
        let what = "SQLite has no schemas; remove this option, or use a PostgreSQL --database";
        refuse_unused(&DATABASE_SCHEMA, what);
        refuse_unused(&COURSES_SCHEMA, what);
    }
    let database = match schema {
        Some(schema) => database.with(|options| options.schema(&schema)),
        None => database,
    };
    match (database, file) {
        (database @ Database::Postgres(_), _) if views => database.with(|options| options.views(&views_schema)),
        (Database::File { path, .. }, courses @ Some(_)) if views => Database::File { path, courses },
        (database, _) if views => {
            let what = "SQLite views need --courses-database sqlite:PATH, and keys need --database sqlite:PATH";
            settings.conflict(&[&VIEWS], &what);
            database
        }
        (database, _) => database,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::table::{ACCEPT, ADMIN_LISTEN, BASE_URL, LISTEN, LOG};
    use super::*;

    fn settings(options: &[(&'static str, &[&str])], variables: &[(&str, &str)], file: &str) -> Settings {
        Settings { layers: Layers::of(options, variables, file), ..Settings::default() }
    }

    fn messages(settings: &Settings) -> String {
        settings.finish().err().map(|failure| failure.message()).unwrap_or_default()
    }

    #[test]
    fn higher_layers_can_unset_flags() {
        let get = |options: &[_], variable, file| {
            let settings = settings(options, &[("CATALOGUE_NO_MIGRATE", variable)], file);
            settings.finish().map(|()| settings.get(&NO_MIGRATE))
        };
        let (on, given) = ("no-migrate = true", [("no-migrate", &["true"][..])]);
        assert_eq!(get(&given, "false", "no-migrate = false"), Ok(true));
        assert_eq!(get(&[], "true", "no-migrate = false"), Ok(true));
        assert_eq!(get(&[], "false", on), Ok(false));
        assert_eq!(get(&[], "0", on), Ok(false));
        assert_eq!(get(&[], "", on), Ok(true));
        assert_eq!(get(&[], "", ""), Ok(false));
        let wrong = settings(&[], &[("CATALOGUE_NO_MIGRATE", "yes!")], on);
        assert!(
            !wrong.get(&NO_MIGRATE) && messages(&wrong).starts_with("CATALOGUE_NO_MIGRATE: invalid value \"yes!\"")
        );
    }

    #[cfg(unix)]
    #[test]
    fn unread_settings_are_ignored() {
        use std::os::unix::ffi::OsStringExt;

        let mut settings = settings(&[], &[("CATALOGUE_LISTEN", "nonsense"), ("CATALOGUE_OTHER", "x")], "");
        settings.layers.set_variable("CATALOGUE_LOG", OsString::from_vec(vec![0xff]));
        assert!(settings.given(&ACCEPT).is_none() && settings.finish().is_ok());
        assert!(settings.given(&LOG).is_none() && messages(&settings) == "CATALOGUE_LOG: the value is not UTF-8");
    }

    #[test]
    fn each_error_is_reported_once() {
        let settings = settings(&[("accept", &["cookie"])], &[("CATALOGUE_LISTEN", "here")], "lisen = ''\nlog = 1.5");
        for _ in 0..2 {
            assert_eq!(settings.get(&LISTEN).port(), 8080);
            settings.get(&ACCEPT);
        }
        let messages = messages(&settings);
        let starts = ["c.toml: line 1: lisen: ", "c.toml: line 2: log: ", "CATALOGUE_LISTEN: ", "--accept: "];
        assert!(
            messages.lines().count() == 4 && messages.lines().zip(starts).all(|(line, start)| line.starts_with(start)),
            "{messages}"
        );
    }

    #[test]
    fn conflicts_are_reported_only_if_all_values_are_valid() {
        let conflict = |variable, file| {
            let settings = settings(&[("admin-listen", &["[::1]:1"])], &[("CATALOGUE_LISTEN", variable)], file);
            settings.given(&LISTEN);
            settings.conflict(&[&LISTEN, &ADMIN_LISTEN], &"clash");
            messages(&settings)
        };
        assert_eq!(conflict("", ""), "--admin-listen: clash");
        assert_eq!(conflict("[::1]:1", ""), "CATALOGUE_LISTEN and --admin-listen: clash");
        for (variable, file) in [("here", ""), ("", "listen = 1.5"), ("", "log = 1.5"), ("", "log: info")] {
            let messages = conflict(variable, file);
            assert!(!messages.is_empty() && !messages.contains("clash"), "{variable} {file}: {messages}");
        }
    }

    #[test]
    fn address_with_unencoded_password_is_refused_without_being_printed() {
        for address in ["redis://:s3 cret@h", "https://u:s3\"cret@h", "postgres://u:s3'cret@h/n"] {
            let settings = settings(&[("database", &[address])], &[("CATALOGUE_BASE_URL", address)], "");
            assert!(settings.given(&DATABASE).is_none() && settings.given(&BASE_URL).is_none());
            let messages = messages(&settings);
            assert!(messages.matches("percent-encode it").count() == 2 && !messages.contains("cret"), "{messages}");
        }
    }
}
