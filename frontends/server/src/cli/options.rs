//! The command-line options for settings, generated from the settings table.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, ValueHint};

use crate::settings::table::{
    self, BASE_URL, DOCS_CONTACT, DOCS_KEYS_URL, DOCS_TITLE, DOCS_URL, LISTEN, NO_MIGRATE, RATE_LIMIT, SETTINGS_URL,
};
use crate::settings::{Section, Setting, Shape};

/// Heading of the options that every command takes.
pub(super) const COMMON_HEADING: &str = "Global options";

/// Adds to each command the options of the settings that it takes.
pub(super) fn add_options(cli: Command) -> Command {
    let every = table::all().filter(|setting| setting.section == Section::Every);
    let is_of_issuer = |setting: &&Setting| ["oauth-issuer", "oauth-audience", "oauth-keys"].contains(&setting.name);
    cli.args(every.map(argument)).mut_subcommands(|command| match command.get_name() {
        "demo" => command.args([
            with_long_help(&LISTEN, argument(&LISTEN), LISTEN.help, ", or a free port if it is taken"),
            with_long_help(&NO_MIGRATE, argument(&NO_MIGRATE), "Do not create or migrate the given database", ""),
            argument(&RATE_LIMIT),
        ]),
        "serve" | "doctor" => add_all_options(command),
        "settings" => command.mut_subcommands(|inner| match inner.get_name() {
            "link" => inner.args([argument(&SETTINGS_URL), argument(&LISTEN)]),
            _ => inner,
        }),
        "import" => command.arg(argument(&NO_MIGRATE)),
        "openapi" => command
            .arg(with_long_help(&BASE_URL, argument(&BASE_URL), "Public base URL of the API", ""))
            .args([&*DOCS_URL, &DOCS_TITLE, &DOCS_CONTACT, &DOCS_KEYS_URL, &SETTINGS_URL].map(argument))
            .args(table::all().filter(is_of_issuer).map(argument)),
        "config" | "tokens" => command.mut_subcommands(|inner| match inner.get_name() {
            "check" | "revoke" => add_all_options(inner),
            _ => inner,
        }),
        _ => command,
    })
}

fn add_all_options(command: Command) -> Command {
    command.args(table::all().filter(|setting| setting.section != Section::Every).map(argument))
}

fn argument(setting: &'static Setting) -> Arg {
    let Setting { name, value_name, shape, .. } = *setting;
    let arg = with_long_help(setting, Arg::new(name).long(name), setting.help, setting.note);
    let arg = match setting.section {
        Section::Serve => arg,
        Section::Clients => arg.help_heading("HTTPS, proxies and limits"),
        Section::Every => arg.help_heading(COMMON_HEADING).global(true),
    };
    if shape == Shape::Flag {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.value_name(value_name).action(ArgAction::Set);
    let arg = match shape {
        Shape::Path => arg.value_hint(ValueHint::FilePath),
        Shape::Choice => arg.num_args(0..=1).default_missing_value("true"),
        Shape::List => arg.num_args(1..).action(ArgAction::Append),
        Shape::Text | Shape::Secret | Shape::Size | Shape::Flag => arg,
    };
    if setting.possible_values.is_empty() {
        return arg;
    }
    arg.value_parser(PossibleValues::new(StringValueParser::new(), setting.possible_values)).hide_possible_values(true)
}

/// Sets the help of an option; `note` follows the default.
fn with_long_help(setting: &Setting, arg: Arg, help: &'static str, note: &str) -> Arg {
    let default = setting.default_text().filter(|_| setting.shape != Shape::Flag);
    let default = default.map(|text| format!("[default: {text}{note}] ")).unwrap_or_default();
    arg.help(help).long_help(format!("{help}\n\n{default}[env: {}]", setting.variable()))
}

/// Returns the settings on the command line, by name.
pub(super) fn given_options(mut matches: &ArgMatches) -> BTreeMap<&'static str, Vec<String>> {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    let texts = |setting: &'static Setting| {
        let raw = matches.try_get_raw(setting.name).ok()??;
        let texts = raw.map(|text| text.to_string_lossy().into_owned()).collect();
        let is_given = matches.value_source(setting.name) == Some(ValueSource::CommandLine);
        is_given.then_some((setting.name, texts))
    };
    table::all().filter_map(texts).collect()
}

/// Value parser that also offers `values` for shell completion. Every value is passed to `parser`, whose messages
/// explain an invalid one better than a list of the valid ones.
#[derive(Clone)]
pub(super) struct PossibleValues<P> {
    parser: P,
    values: &'static [&'static str],
}

impl<P: TypedValueParser> PossibleValues<P> {
    pub(super) const fn new(parser: P, values: &'static [&'static str]) -> Self {
        Self { parser, values }
    }
}

impl<P: TypedValueParser> TypedValueParser for PossibleValues<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().copied().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    #[test]
    fn options_of_all_shapes_are_found() {
        let line = "catalogue --log warn config check --no-migrate --accept a --accept b,c --wait --page-cache 1";
        let given = given_options(&command().try_get_matches_from(line.split(' ')).unwrap());
        let given: Vec<_> = given.iter().map(|(name, texts)| format!("{name}={}", texts.join("|"))).collect();
        assert_eq!(given, ["accept=a|b,c", "log=warn", "no-migrate=true", "page-cache=1", "wait=true"]);
    }
}
