//! Detects views that read the clock or random values, and so can change without a commit.

use catalogue_core::storage::views::{ACCOUNTS, COURSES, MODULES};
use rusqlite::Connection;

use super::tokens::{is_word, tokens};

/// Names of random values, and of values of the current moment.
const VOLATILE: [&str; 5] = ["current_date", "current_time", "current_timestamp", "random", "randomblob"];
/// Functions that return the current moment if no instant is given.
const VOLATILE_WITHOUT_ARGUMENT: [&str; 6] = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"];

/// Returns whether the views' content depends on when they are read, judging by their SQL and that of the views behind them.
pub(super) fn is_volatile(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?1 COLLATE NOCASE")?;
    let mut names = [ACCOUNTS, COURSES, MODULES].map(str::to_owned).to_vec();
    let mut next = 0;
    while let Some(name) = names.get(next) {
        next += 1;
        let mut rows = statement.query([name])?;
        let Some(row) = rows.next()? else { continue };
        let sql: String = row.get(0)?;
        let tokens = tokens(&sql);
        if (0..tokens.len()).any(|at| is_volatile_value(&tokens[at..])) {
            return Ok(true);
        }
        // Any word may be the name of another view.
        for word in tokens.iter().map(|token| unquoted(token).to_ascii_lowercase()) {
            if !names.contains(&word) {
                names.push(word);
            }
        }
    }
    Ok(false)
}

/// Returns whether `tokens` begin with a random value or a value of the current moment.
fn is_volatile_value(tokens: &[&str]) -> bool {
    let one_of = |words: &[&str]| words.iter().any(|word| is_word(tokens[0], word));
    match tokens {
        [name, "(", ")", ..] if one_of(&VOLATILE_WITHOUT_ARGUMENT) => !is_word(name, "strftime"),
        // With a format, and without an instant.
        [name, "(", _, ")", ..] if is_word(name, "strftime") => true,
        [text, ..] => one_of(&VOLATILE) || is_word(unquoted(text).trim(), "now") && text.starts_with(['\'', '"']),
        [] => false,
    }
}

fn unquoted(token: &str) -> &str {
    token.trim_matches(['\'', '"', '`', '[', ']'])
}
