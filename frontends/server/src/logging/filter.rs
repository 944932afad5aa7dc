//! What is logged: tracing's filter syntax, in which a level alone is that of this program's own lines.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{Layers, Setting, Sourced};
use crate::exit::Failure;

/// What is logged unless `--log` says otherwise.
const DEFAULT: &str = "info";

/// What the targets of this program and of its own libraries begin with.
const OWN: &str = "catalogue";

/// The filter that the layers name.
pub(super) fn named(layers: &Layers, given: Option<String>) -> Result<EnvFilter, Failure> {
    let filter = layers.text(Setting::Log, given)?.unwrap_or_else(|| Sourced::default(DEFAULT.to_owned()));
    filter.parse(|text| {
        EnvFilter::builder().parse(quiet(text)).map_err(|error| {
            format!("{text:?} is not a log filter: {error}; write a level like info, or target=level, with commas")
        })
    })
}

/// The same with libraries of others at `error`, as far as they are not named: many of their lines are caused by clients,
/// who could fill the log with them.
fn quiet(text: &str) -> String {
    let items = text.split(',').map(|item| (item, level(item)));
    let (levels, named): (Vec<_>, Vec<_>) = items.partition(|(_, level)| level.is_some());
    let last = levels.into_iter().filter_map(|(_, level)| level).next_back();
    // What names a target wins over what stands before it.
    let first = last.map(|level| format!("{},{OWN}={level}", level.min(LevelFilter::ERROR)));
    first.into_iter().chain(named.into_iter().map(|(item, _)| item.to_owned())).collect::<Vec<_>>().join(",")
}

/// The level, where an item is nothing else.
fn level(item: &str) -> Option<LevelFilter> {
    Some(item.trim()).filter(|item| !item.is_empty()).and_then(|item| item.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_alone_is_for_our_own_lines() {
        for (text, expected) in [
            ("info", "error,catalogue=info"),
            ("DEBUG", "error,catalogue=debug"),
            ("5", "error,catalogue=trace"),
            ("error", "error,catalogue=error"),
            ("off", "off,catalogue=off"),
            ("info,catalogue::access=off", "error,catalogue=info,catalogue::access=off"),
            ("catalogue=trace, warn", "error,catalogue=warn,catalogue=trace"),
            ("debug,h2=debug,hyper", "error,catalogue=debug,h2=debug,hyper"),
            ("h2=debug", "h2=debug"),
            ("info,", "error,catalogue=info,"),
            ("info,warn", "error,catalogue=warn"),
            ("", ""),
        ] {
            assert_eq!(quiet(text), expected, "{text:?}");
            assert!(EnvFilter::builder().parse(quiet(text)).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_repeated_as_it_was_written() {
        let wrong = named(&Layers::default(), Some("info,a=b=c".to_owned())).unwrap_err();
        assert!(wrong.message().starts_with("--log: \"info,a=b=c\" is not a log filter"), "{wrong:?}");
    }
}
