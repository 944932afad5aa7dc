//! `catalogue config check` and `catalogue config example`

use serde_json::{Value, json};

use super::table::aligned;
use crate::exit::{Failure, sanitized};
use crate::output;
use crate::settings::table::{TLS_CERT, TLS_KEY, all};
use crate::settings::{ServeSettings, Setting, Settings, Shape};
use crate::suggest::closest_match;

const HEAD: &str = "\
# Settings of `catalogue serve`. Pass the path of this file with --config or in CATALOGUE_CONFIG.
#
# Each key is shown with its default, or with a placeholder if it has none. Environment variables (CATALOGUE_LISTEN)
# override this file; options (--listen) override both. `catalogue config check --config FILE` prints the result.
# To keep a URL with a password in a separate file, name that file: database = \"file:/etc/catalogue/database\".
";

pub(super) fn check(json: bool, settings: &Settings) -> Result<(), Failure> {
    let serve = ServeSettings::read(settings);
    serve.check_listeners(settings, None);
    if let Err(error) = serve.tls() {
        settings.error(&[&TLS_CERT, &TLS_KEY], &error);
    }
    let rows: Vec<_> = all().map(|setting| (setting, settings.display(setting))).collect();
    settings.finish()?;
    let owner_warning = serve.developer.as_ref().and_then(|developer| developer.warning(serve.listen));
    let warnings: Vec<_> = settings.layers.variables().filter_map(warning).chain(owner_warning).collect();
    if json {
        let row = |(setting, (given, source)): (&Setting, (Option<Vec<String>>, String))| {
            let value = given.or_else(|| setting.default_texts()).map(|texts| json_value(setting, texts));
            json!({ "setting": setting.name, "value": value, "source": source })
        };
        let rows: Vec<_> = rows.into_iter().map(row).collect();
        return output::print_json(&json!({ "settings": rows, "warnings": warnings }));
    }
    warnings.iter().for_each(|warning| output::write_line("WARN", "warning: ", &sanitized(warning)));
    let cells = |(setting, (value, source)): (&Setting, (Option<Vec<String>>, String))| {
        let value = value.map(|texts| texts.join(" ")).or_else(|| setting.default_text().map(str::to_owned));
        [setting.name.to_owned(), value.unwrap_or_else(|| "-".to_owned()), source]
    };
    output::print(&aligned(["SETTING", "VALUE", "SOURCE"], rows.into_iter().map(cells)))
}

/// Converts the texts of a setting to a JSON value.
fn json_value(setting: &Setting, texts: Vec<String>) -> Value {
    let text = texts.concat();
    match (setting.shape, &*text) {
        (Shape::List, _) => texts.into(),
        (Shape::Flag | Shape::Choice, "true" | "1") => true.into(),
        (Shape::Flag | Shape::Choice, "false" | "0") => false.into(),
        (Shape::Size, _) => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
        _ => text.into(),
    }
}

/// Returns a warning if a variable looks like a setting's but is unknown.
fn warning(name: &str) -> Option<String> {
    let known: Vec<_> = all().map(Setting::variable).collect();
    if known.iter().any(|known| known == name) {
        return None;
    }
    let hint = match closest_match(name, known.iter().map(|known| &**known)) {
        Some(known) => format!("; did you mean {known}?"),
        None => String::new(),
    };
    Some(format!("{name}: unknown variable{hint}"))
}

/// Prints a configuration file with every key as a comment.
pub(super) fn print_example() -> Result<(), Failure> {
    output::print(&file())
}

fn file() -> String {
    let mut text = HEAD.to_owned();
    for setting in all() {
        text.push('\n');
        let texts = setting.default_texts().unwrap_or_else(|| vec![format!("<{}>", setting.value_name)]);
        // JSON strings, arrays, integers and booleans are valid TOML.
        text.push_str(&format!("# {}\n#{} = {}\n", setting.help, setting.name, json_value(setting, texts)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ConfigFile;

    #[test]
    fn example_contains_all_keys_in_valid_form() {
        let keys =
            file().lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>().join("\n").replace('#', "");
        let file = ConfigFile::parse("example".to_owned(), &keys);
        assert!(file.errors.is_empty(), "{:?}", file.errors);
        for setting in all() {
            assert!(file.get(setting).is_some(), "{}: {keys}", setting.name);
        }
    }
}
