//! `catalogue keys check`: whether texts have the form of our tokens, without a database.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read as _};

use catalogue_core::{CredentialKind, token_kind};
use serde::Serialize;

use crate::cli::CheckKeys;
use crate::exit::Failure;
use crate::output;

/// No line that is longer can be a token, so no more of it is kept.
const LONGEST: u64 = 1 << 12;
/// How much of a token is shown; of what is none, nothing is.
const SHOWN: usize = 8;

/// What is said of a line.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Verdict {
    line: u64,
    valid: bool,
    /// By the beginning alone where the line is not valid.
    kind: Option<&'static str>,
    prefix: Option<String>,
}

pub(super) fn run(check: &CheckKeys) -> Result<(), Failure> {
    let verdicts = judge(&mut io::stdin().lock());
    let verdicts = verdicts.map_err(|error| Failure::work(format!("standard input cannot be read: {error}")))?;
    if check.json {
        output::print_json(&verdicts)?;
    } else if !verdicts.is_empty() {
        output::print(&table(&verdicts))?;
    }
    let wrong = verdicts.iter().filter(|verdict| !verdict.valid).count();
    match (wrong, verdicts.len()) {
        (_, 0) => Err(Failure::work("standard input has no token; write one a line")),
        (0, _) => Ok(()),
        (wrong, all) => Err(Failure::work(format!("{wrong} of {all} without the form of a token"))),
    }
}

/// Judges each line that is not blank.
fn judge(input: &mut impl BufRead) -> io::Result<Vec<Verdict>> {
    let (mut verdicts, mut line) = (Vec::new(), Vec::new());
    for number in 1.. {
        line.clear();
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST;
        if !is_whole {
            input.skip_until(b'\n')?;
        }
        let text = line.trim_ascii();
        if !text.is_empty() || !is_whole {
            verdicts.push(Verdict::of(number, std::str::from_utf8(text).ok().filter(|_| is_whole)));
        }
    }
    Ok(verdicts)
}

impl Verdict {
    /// `None` is a text that can be no token.
    fn of(line: u64, text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        let kind = token_kind(text);
        let prefix = kind.map(|_| text[..SHOWN].to_owned());
        let claimed = CredentialKind::ALL.iter().copied().find(|kind| text.starts_with(beginning(*kind)));
        Self { line, valid: kind.is_some(), kind: kind.or(claimed).map(CredentialKind::name), prefix }
    }
}

fn beginning(kind: CredentialKind) -> &'static str {
    match kind {
        CredentialKind::OAuth => "cato_",
        _ => "ccat_",
    }
}

/// A line for each.
fn table(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for Verdict { line, valid, kind, prefix } in verdicts {
        write!(text, "{line}: {}", if *valid { "valid" } else { "invalid" }).expect("a String takes all");
        for word in kind.iter().copied().chain(prefix.as_deref()) {
            write!(text, " {word}").expect("a String takes all");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use catalogue_core::NewToken;

    use super::*;

    #[test]
    fn each_line_is_judged_and_none_is_repeated() {
        let token = NewToken::mint(CredentialKind::OAuth);
        let long = "x".repeat(LONGEST as usize + 10);
        let blank = " ".repeat(LONGEST as usize + 10);
        let text = format!("\n  {0}\r\n{long}\n{blank}{0}\nhunter2\nccat_x\n\u{e9}\n{0}", token.expose());
        let verdicts = judge(&mut text.as_bytes()).unwrap();
        let shown = token.shown_prefix();
        let expected = format!(
            "2: valid oauth {shown}\n3: invalid\n4: invalid\n5: invalid\n6: invalid api-key\n7: invalid\n8: valid oauth \
             {shown}\n"
        );
        assert_eq!(table(&verdicts), expected);
        assert_eq!(judge(&mut &b"\xff\n"[..]).unwrap(), [Verdict { line: 1, valid: false, kind: None, prefix: None }]);
        assert_eq!(judge(&mut &b" \n\n"[..]).unwrap(), []);
    }
}
