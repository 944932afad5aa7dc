//! [`Settings`]: typed values, and all that is wrong with them.

use std::cell::RefCell;
use std::fmt::Display;

use super::layers::{CommandLine, Layers, Written};
use super::table::{DATABASE, DATABASE_POOLER, NO_MIGRATE};
use super::{Entry, Fault, Setting, Shape, courses};
use crate::database::{Database, Migration, PostgresOptions};
use crate::exit::Failure;
use crate::text::{printable, without_credentials};

/// The settings of this process. What is wrong with a value is noted when it is asked for, and told by
/// [`finish`](Self::finish) with all else that is; a value of another command's option is not even read.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) layers: Layers,
    faults: RefCell<Vec<Fault>>,
}

impl Settings {
    /// Those of this process.
    pub(crate) fn of_this_process(command_line: CommandLine) -> Self {
        Self { layers: Layers::of_this_process(command_line), ..Self::default() }
    }

    /// The value that is in force; the default where nobody gives one, or a wrong one.
    ///
    /// # Panics
    /// Where the setting has no default.
    pub(crate) fn get<T>(&self, entry: &Entry<T>) -> T {
        self.given(entry).unwrap_or_else(|| entry.default_value())
    }

    /// The value that somebody gives; `None` where nobody does, or a wrong one.
    pub(crate) fn given<T>(&self, entry: &Entry<T>) -> Option<T> {
        let written = self.written(entry)?;
        let value = entry.parse(&written.texts);
        value.map_err(|error| self.note(format!("{}: {error}", written.source()), vec![entry.name])).ok()
    }

    /// The text that is in force, whatever it means, or the word for there being none.
    pub(crate) fn text(&self, setting: &'static Setting) -> Option<String> {
        let given = self.written(setting).and_then(|written| written.texts.into_iter().next());
        given.or_else(|| setting.default_text().map(str::to_owned))
    }

    fn written(&self, setting: &Setting) -> Option<Written> {
        let written = self.layers.find(setting);
        written.map_err(|message| self.note(message, vec![setting.name])).ok().flatten()
    }

    fn note(&self, message: String, settings: Vec<&'static str>) {
        let mut faults = self.faults.borrow_mut();
        // A command may ask for a value more than once.
        if faults.iter().all(|fault| fault.message != message) {
            faults.push(Fault { message, settings });
        }
    }

    /// Notes that settings do not go together, unless one of them, or of those that they need, is wrong: that may be why.
    pub(crate) fn conflict(&self, settings: &[&Setting], needed: &[&Setting], what: &dyn Display) {
        let is_wrong = |setting: &&Setting| {
            let is_about = |fault: &Fault| fault.settings.contains(&setting.name);
            // What somebody gives above the file is in force, whatever the file was meant to say.
            let in_file = self.layers.file.faults.iter().any(is_about) && !self.is_given(setting);
            in_file || self.faults.borrow().iter().any(is_about)
        };
        if !settings.iter().chain(needed).any(is_wrong) {
            let names = settings.iter().map(|setting| setting.name).collect();
            self.note(self.sourced(settings, what), names);
        }
    }

    /// Whether somebody gives a value.
    pub(crate) fn is_given(&self, setting: &Setting) -> bool {
        self.written(setting).is_some()
    }

    /// What is said of settings, behind where those come from that somebody gives.
    pub(crate) fn sourced(&self, settings: &[&Setting], what: &dyn Display) -> String {
        let sources = settings.iter().filter_map(|setting| Some(self.written(setting)?.source()));
        format!("{}: {what}", sources.collect::<Vec<_>>().join(" and "))
    }

    /// Tells all that is wrong with the configuration file and with what was asked for, if anything is.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        let faults = self.faults.borrow();
        let messages: Vec<_> = self.layers.file.faults.iter().chain(&*faults).map(|fault| &*fault.message).collect();
        match *messages {
            [] => Ok(()),
            [message] => Err(Failure::usage(message)),
            _ => Err(Failure::faults(messages.into_iter())),
        }
    }

    /// A value that somebody gives, as those who operate the server may see it, and where it comes from.
    pub(crate) fn shown(&self, setting: &Setting) -> Option<(Vec<String>, String)> {
        let Written { texts, place, .. } = self.written(setting)?;
        let shown = |text: &String| match setting.shape {
            Shape::Secret => "…".to_owned(),
            _ if setting.is_secret => without_credentials(text),
            _ => text.clone(),
        };
        Some((texts.iter().map(|text| printable(&shown(text)).into_owned()).collect(), place))
    }

    /// The database that is named, or the default one, with where its courses are.
    pub(crate) fn database(&self) -> Database {
        courses::told_to(self.named_database().unwrap_or_else(|| DATABASE.default_value()), self)
    }

    /// The database that is named, if one is.
    pub(crate) fn named_database(&self) -> Option<Database> {
        let through_pooler = self.get(&DATABASE_POOLER);
        let database = self.given(&DATABASE)?;
        Some(if through_pooler { database.with(PostgresOptions::through_transaction_pooler) } else { database })
    }

    /// Whether a missing database may be made and an older one be migrated.
    pub(crate) fn migration(&self) -> Migration {
        if self.get(&NO_MIGRATE) { Migration::Forbidden } else { Migration::Allowed }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::table::{ACCEPT, ADMIN_LISTEN, LISTEN, LOG, NO_MIGRATE};
    use super::*;

    fn settings(options: &[(&'static str, &[&str])], variables: &[(&str, &str)], file: &str) -> Settings {
        Settings { layers: Layers::of(options, variables, file), ..Settings::default() }
    }

    fn told(settings: &Settings) -> String {
        settings.finish().err().map(|failure| failure.message().to_owned()).unwrap_or_default()
    }

    #[test]
    fn flags_can_be_switched_off_again() {
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
        assert!(!wrong.get(&NO_MIGRATE) && told(&wrong).starts_with("CATALOGUE_NO_MIGRATE: \"yes!\""));
    }

    #[cfg(unix)]
    #[test]
    fn only_what_is_asked_for_matters() {
        use std::os::unix::ffi::OsStringExt;

        let mut settings = settings(&[], &[("CATALOGUE_LISTEN", "nonsense"), ("CATALOGUE_OTHER", "x")], "");
        settings.layers.set_variable("CATALOGUE_LOG", OsString::from_vec(vec![0xff]));
        assert!(settings.given(&ACCEPT).is_none() && settings.finish().is_ok());
        assert!(settings.given(&LOG).is_none() && told(&settings) == "CATALOGUE_LOG: the value is not UTF-8");
    }

    #[test]
    fn all_that_is_wrong_is_told_once() {
        let settings = settings(&[("accept", &["cookie"])], &[("CATALOGUE_LISTEN", "here")], "lisen = ''\nlog = 1");
        for _ in 0..2 {
            assert_eq!(settings.get(&LISTEN).port(), 8080);
            settings.get(&ACCEPT);
        }
        let told = told(&settings);
        let starts = ["c.toml: line 1: lisen: ", "c.toml: line 2: log: ", "CATALOGUE_LISTEN: ", "--accept: "];
        assert!(
            told.lines().count() == 4 && told.lines().zip(starts).all(|(line, start)| line.starts_with(start)),
            "{told}"
        );
    }

    #[test]
    fn a_conflict_with_what_is_wrong_is_not_told() {
        let conflict = |variable, file| {
            let settings = settings(&[("admin-listen", &["[::1]:1"])], &[("CATALOGUE_LISTEN", variable)], file);
            settings.given(&LISTEN);
            settings.conflict(&[&LISTEN, &ADMIN_LISTEN], &[&LOG], &"clash");
            told(&settings).lines().filter(|line| line.ends_with(": clash")).map(str::to_owned).collect::<String>()
        };
        assert_eq!(conflict("", ""), "--admin-listen: clash");
        assert_eq!(conflict("[::1]:1", ""), "CATALOGUE_LISTEN and --admin-listen: clash");
        assert_eq!(
            conflict("[::1]:1", "listen = 1"),
            "CATALOGUE_LISTEN and --admin-listen: clash",
            "the file is below"
        );
        for (variable, file) in [("here", ""), ("", "listen = 1"), ("", "log = 1"), ("", "log: info")] {
            assert_eq!(conflict(variable, file), "", "{variable} {file}");
        }
    }
}
