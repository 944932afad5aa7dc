//! `catalogue config check`

use std::collections::BTreeSet;

use serde::Serialize;

use super::super::{Context, serve, table};
use crate::cli::{self, Explanation};
use crate::config::{Layers, Setting, Stated, nearest};
use crate::exit::Failure;
use crate::output;

/// A setting as it is in force.
#[derive(Debug, Serialize)]
struct Row {
    setting: &'static str,
    /// `None` where there is none.
    value: Option<String>,
    source: String,
}

pub(super) fn run(json: bool, context: Context) -> Result<(), Failure> {
    let context = context.with_options(cli::given_settings());
    let rows = rows(&context.layers);
    let warnings: Vec<_> = context.layers.variables().filter_map(warning).collect();
    let faults = faults(context);
    if !faults.is_empty() {
        return Err(Failure::Faults(faults.join("\n")));
    }
    let rows = rows?;
    if json {
        return output::print_json(&serde_json::json!({ "settings": rows, "warnings": warnings }));
    }
    warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    let cells = |row: Row| [row.setting.to_owned(), row.value.unwrap_or_else(|| "-".to_owned()), row.source];
    output::print(&table::aligned(["SETTING", "VALUE", "SOURCE"], rows.into_iter().map(cells)))
}

/// Every setting in the order of the help of `serve`.
fn rows(layers: &Layers) -> Result<Vec<Row>, Failure> {
    let row = |Explanation { setting, default, .. }| {
        let (value, source) = match layers.stated(setting)? {
            Some(Stated { value, source }) => (Some(value), source),
            None => (default, "default".to_owned()),
        };
        Ok(Row { setting: setting.name(), value, source })
    };
    cli::explanations().into_iter().map(row).collect()
}

/// All that `serve` would say is wrong: with the file, and then with the values of all layers. A value that is wrong is
/// left out, and the rest looked at again.
fn faults(mut context: Context) -> Vec<String> {
    let of_file = context.layers.file_faults();
    let mut faults: Vec<_> = of_file.iter().map(|fault| fault.message.clone()).collect();
    let mut missing: BTreeSet<_> = of_file.iter().flat_map(|fault| fault.settings.clone()).collect();
    while let Err(failure) = serve::check(&context) {
        let message = failure.message();
        let blamed = context.layers.blamed_by(message);
        // What is left out is missed by what goes with it, such as a certificate by its key: that is no fault of its own.
        let follows = missing.iter().any(|setting| !blamed.contains(setting) && mentions(message, *setting));
        if !follows {
            faults.push(message.to_owned());
        }
        if blamed.is_empty() {
            break;
        }
        blamed.iter().for_each(|setting| context.layers.leave_out(*setting));
        missing.extend(blamed);
    }
    faults
}

/// Whether a message names the setting's option, and not one whose name only begins with it.
fn mentions(message: &str, setting: Setting) -> bool {
    let mut words = message.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    words.any(|word| word.strip_prefix("--") == Some(setting.name()))
}

/// A variable that is none of ours, and looks like one.
fn warning(name: &str) -> Option<String> {
    let known: Vec<_> = Setting::ALL.into_iter().map(Setting::variable).collect();
    if known.iter().any(|known| known == name) {
        return None;
    }
    let hint = match nearest(name, known.iter().map(|known| &**known)) {
        Some(known) => format!("; did you mean {known}?"),
        None => String::new(),
    };
    Some(format!("{name}: no setting has this variable{hint}"))
}
