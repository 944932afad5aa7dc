//! `catalogue config check`

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
        return Err(Failure::usage(faults.join("\n")));
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

/// All that `serve` would say is wrong. What is wrong is left out, and the rest looked at again.
fn faults(mut context: Context) -> Vec<String> {
    let (mut faults, mut left_out) = (Vec::new(), Vec::<Setting>::new());
    while let Err(failure) = serve::check(&context) {
        let message = failure.message();
        // What was left out is missed by what goes with it, such as a key by its certificate: that is no fault of its own.
        let follows = left_out.iter().any(|setting| message.contains(&format!("--{}", setting.name())));
        if !follows {
            faults.push(message.to_owned());
        }
        let blamed = context.layers.blamed_by(message);
        if blamed.is_empty() {
            break;
        }
        blamed.iter().for_each(|setting| context.layers.leave_out(*setting));
        left_out.extend(blamed);
    }
    faults
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
