//! The log filter, in tracing's syntax, except that a bare level applies to this program's own lines only.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::suggest::closest_match;

/// Prefix of the targets of this program and of its own libraries.
const OWN_TARGET: &str = "catalogue";

/// Names of the levels in messages. A filter may also have them in capitals, or as numbers from 0 to 5.
pub(crate) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Parses a filter.
pub(crate) fn parse(text: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder().parse(limit_libraries(text)?).map_err(|error| {
        format!("invalid log filter {text:?}: {error}; use a level like info, or target=level, separated by commas")
    })
}

/// Limits libraries to `error` unless the filter names them: clients could make them fill the log.
fn limit_libraries(text: &str) -> Result<String, String> {
    let items: Vec<_> = text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        return Err(format!("the log filter {text:?} is empty; {}", level_hint()));
    }
    items.iter().try_for_each(|item| check(item))?;
    let (levels, named): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| level(item).is_some());
    let last = levels.last().and_then(|item| level(item));
    let floor = last.map_or(LevelFilter::ERROR, |level| level.min(LevelFilter::ERROR));
    // Items that name a target come last, because they override earlier items for the same target.
    let own = last.map(|level| format!("{OWN_TARGET}={level}"));
    let first = [floor.to_string()].into_iter().chain(own);
    Ok(first.chain(named.into_iter().map(str::to_owned)).collect::<Vec<_>>().join(","))
}

/// Refuses a word that is not a level. tracing would take it for a target, and log nothing else.
fn check(item: &str) -> Result<(), String> {
    let (word, is_level) = match item.split_once('=') {
        // tracing itself parses items that name a span.
        _ if item.contains('[') => return Ok(()),
        Some((_, word)) => (word, level(word).is_some()),
        // A path is not a misspelled level.
        None => (item, level(item).is_some() || item.contains("::")),
    };
    if is_level {
        return Ok(());
    }
    let hint = match closest_match(&word.to_lowercase(), LEVELS.into_iter()) {
        Some(known) => format!("did you mean {known:?}? "),
        None => String::new(),
    };
    Err(format!("{word:?} is not a level; {hint}{}", level_hint()))
}

fn level_hint() -> String {
    format!("the levels are {}; a target needs a level, like hyper=trace", LEVELS.join(", "))
}

/// Returns the level if an item consists of nothing else.
fn level(item: &str) -> Option<LevelFilter> {
    Some(item).filter(|item| !item.is_empty()).and_then(|item| item.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_level_applies_to_own_lines_and_libraries_show_errors() {
        for (text, expected) in [
            ("info", "error,catalogue=info"),
            ("DEBUG", "error,catalogue=debug"),
            ("5", "error,catalogue=trace"),
            ("error", "error,catalogue=error"),
            ("off", "off,catalogue=off"),
            ("info,catalogue::access=off", "error,catalogue=info,catalogue::access=off"),
            ("catalogue=trace, warn", "error,catalogue=warn,catalogue=trace"),
            ("info, h2=debug", "error,catalogue=info,h2=debug"),
            ("debug,h2=debug,hyper::proto", "error,catalogue=debug,h2=debug,hyper::proto"),
            ("info,", "error,catalogue=info"),
            ("info,warn", "error,catalogue=warn"),
            // Without a bare level, all errors are shown.
            ("h2=debug", "error,h2=debug"),
            ("catalogue::access=off", "error,catalogue::access=off"),
            ("[request]=debug", "error,[request]=debug"),
            ("h2[stream{id=1}]", "error,h2[stream{id=1}]"),
        ] {
            assert_eq!(limit_libraries(text).unwrap(), expected, "{text:?}");
            assert!(EnvFilter::builder().parse(limit_libraries(text).unwrap()).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn unknown_level_is_refused() {
        for (text, piece) in [
            ("warning", "\"warning\" is not a level; did you mean \"warn\"?"),
            ("inof", "\"inof\" is not a level; did you mean \"info\"?"),
            ("INFOS", "\"INFOS\" is not a level; did you mean \"info\"?"),
            ("info,h2=debgu", "\"debgu\" is not a level; did you mean \"debug\"?"),
            ("verbose", "\"verbose\" is not a level; the levels are off, error, warn, info, debug, trace"),
            ("info,hyper", "\"hyper\" is not a level; the levels"),
            ("6", "\"6\" is not a level"),
            ("h2=", "\"\" is not a level"),
            ("a=b=c", "\"b=c\" is not a level"),
            ("", "the log filter \"\" is empty"),
            (" , ", "the log filter \" , \" is empty"),
        ] {
            let message = limit_libraries(text).unwrap_err();
            assert!(message.contains(piece), "{text:?}: {message}");
            assert!(message.ends_with("a target needs a level, like hyper=trace"), "{message}");
        }
    }

    #[test]
    fn invalid_filter_is_repeated_unchanged() {
        let wrong = parse("info,[a").unwrap_err();
        assert!(wrong.starts_with("invalid log filter \"info,[a\": "), "{wrong}");
    }
}
