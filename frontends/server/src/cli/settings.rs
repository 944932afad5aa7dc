//! What the definitions of `serve` say of each setting. Nothing here knows which settings there are.

use std::collections::BTreeMap;
use std::env;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};

use super::Cli;
use crate::config::{Setting, Shape, Value};

/// What the help of `serve` says of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explanation {
    pub(crate) setting: Setting,
    /// What it is for.
    pub(crate) text: String,
    /// What is in force where nobody says otherwise, as a value or in words.
    pub(crate) default: Option<String>,
    /// What stands for a value.
    pub(crate) placeholder: String,
}

/// What the help of `serve` says, in its order.
pub(crate) fn explanations() -> Vec<Explanation> {
    let mut command = Cli::command();
    command.build();
    let serve = command.find_subcommand("serve").expect("there is such a command");
    let of = |argument: &clap::Arg| {
        let setting = Setting::ALL.into_iter().find(|setting| argument.get_long() == Some(setting.name()))?;
        let whole = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let default = whole.split_once("[default: ").and_then(|(_, rest)| rest.split([';', ']']).next());
        Some(Explanation {
            setting,
            text: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            default: default.map(str::to_owned).or((setting.shape() == Shape::Flag).then(|| "false".to_owned())),
            placeholder: argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default(),
        })
    };
    serve.get_arguments().filter_map(of).collect()
}

/// The settings that stand on this process's command line, which has been read before.
pub(crate) fn given_settings() -> BTreeMap<Setting, Value> {
    Cli::command().try_get_matches_from(env::args_os()).map(|matches| given_in(&matches)).unwrap_or_default()
}

fn given_in(mut matches: &ArgMatches) -> BTreeMap<Setting, Value> {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    let given = |setting: Setting| {
        let id = setting.name().replace('-', "_");
        let raw = matches.try_get_raw(&id).ok()??;
        if matches.value_source(&id) != Some(ValueSource::CommandLine) {
            return None;
        }
        let mut texts = raw.map(|text| text.to_string_lossy().into_owned());
        Some(match setting.shape() {
            Shape::Flag => Value::Flag(true),
            Shape::List => Value::List(texts.collect()),
            Shape::Text | Shape::Size | Shape::Choice => Value::Text(texts.next()?),
        })
    };
    Setting::ALL.into_iter().filter_map(|setting| Some((setting, given(setting)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_explained_once() {
        let mut explained: Vec<_> = explanations().iter().map(|explanation| explanation.setting).collect();
        explained.sort();
        let mut all = Setting::ALL;
        all.sort();
        assert_eq!(explained, all);
        assert!(explanations().iter().all(|explanation| !explanation.text.is_empty()));
        let default = |setting| explanations().into_iter().find(|found| found.setting == setting).unwrap().default;
        assert_eq!(default(Setting::Database).unwrap(), "sqlite:catalogue.db");
        assert_eq!(default(Setting::NoMigrate).unwrap(), "false");
        assert_eq!(default(Setting::TlsKey), None);
    }

    #[test]
    fn what_is_given_is_found_whatever_its_shape() {
        let line = "catalogue --log warn config check --no-migrate --accept a --accept b,c --wait --page-cache 1";
        let given = given_in(&Cli::command().try_get_matches_from(line.split(' ')).unwrap());
        let text = |text: &str| Value::Text(text.to_owned());
        let expected = [
            (Setting::Wait, text("true")),
            (Setting::Accept, Value::List(vec!["a".to_owned(), "b,c".to_owned()])),
            (Setting::Log, text("warn")),
            (Setting::PageCache, text("1")),
            (Setting::NoMigrate, Value::Flag(true)),
        ];
        assert_eq!(given, BTreeMap::from(expected));
    }
}
