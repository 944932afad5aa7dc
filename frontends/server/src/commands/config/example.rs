//! `catalogue config example`

use crate::cli::{self, Explanation};
use crate::config::Shape;

/// How wide comments are.
const WIDTH: usize = 118;

const HEAD: &str = "\
# Settings of `catalogue serve`, read where --config FILE or CATALOGUE_CONFIG names this file.
#
# Each key is shown with its default, or with a placeholder where there is none. The environment (CATALOGUE_LISTEN) wins
# over this file, the command line (--listen) over both. `catalogue config check --config FILE` says what is in force.
# An address with a password can stand in a file of its own: database = \"file:/etc/catalogue/database\".
";

/// A configuration file with every key as a comment.
pub(super) fn file() -> String {
    let mut text = HEAD.to_owned();
    for explanation in cli::explanations() {
        text.push('\n');
        for line in wrapped(&explanation.text) {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str(&format!("#{} = {}\n", explanation.setting.name(), value(&explanation)));
    }
    text
}

/// The default in TOML, or what stands for a value.
fn value(Explanation { setting, default, placeholder, .. }: &Explanation) -> String {
    let placeholder = format!("<{placeholder}>");
    // In words, it is no value.
    let default = default.as_deref().filter(|default| *default != "none" && !default.contains(' '));
    // A string of JSON is one of TOML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    match setting.shape() {
        Shape::Flag | Shape::Choice if default.is_some_and(|default| default.parse::<bool>().is_ok()) => {
            default.unwrap_or_default().to_owned()
        }
        Shape::Size if default.is_some_and(|default| default.parse::<u64>().is_ok()) => {
            default.unwrap_or_default().to_owned()
        }
        Shape::List => {
            let items: Vec<_> = default.unwrap_or(&placeholder).split(',').map(quoted).collect();
            format!("[{}]", items.join(", "))
        }
        _ => quoted(default.unwrap_or(&placeholder)),
    }
}

/// The words in lines of at most [`WIDTH`] characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one line at least");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= WIDTH {
            *last = format!("{last} {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, Setting};

    #[test]
    fn every_key_is_there_and_of_the_right_shape() {
        let keys =
            file().lines().filter(|line| !line.starts_with("# ")).collect::<Vec<_>>().join("\n").replace('#', "");
        let file = ConfigFile::parse("example".to_owned(), &keys);
        assert_eq!(file.faults(), []);
        for setting in Setting::ALL {
            assert!(file.get(setting).is_some(), "{setting:?}: {keys}");
        }
    }
}
