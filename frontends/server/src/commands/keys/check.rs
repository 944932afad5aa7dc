//! `catalogue keys check`: checks offline whether texts are well-formed tokens of the catalogue.

use std::fmt;
use std::io::{self, BufRead, BufWriter, Read as _, Write};

use catalogue_core::auth::{CredentialKind, token_kind};
use serde::Serialize;

use crate::exit::Failure;
use crate::input::{stdin, unreadable};
use crate::output;

/// Maximum number of bytes that are read of a line; a longer line counts as invalid.
const MAX_LINE_BYTES: u64 = 1 << 12;
/// Length of the prefix shown for a valid token. Other input is never repeated.
const PREFIX_LEN: usize = 8;

/// Verdict on a line.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Verdict {
    line: u64,
    valid: bool,
    /// Kind of the token; for an invalid line, according to its prefix only.
    kind: Option<&'static str>,
    prefix: Option<String>,
}

pub(super) fn run(json: bool) -> Result<(), Failure> {
    let mut input = stdin("one token per line, then Ctrl+D");
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (all, wrong) = report(&mut input, json, &mut out)?;
    out.flush().map_err(|error| output::write_failure(&error))?;
    match wrong {
        _ if all == 0 => Err(Failure::work("standard input contains no token; pass one per line")),
        0 => Ok(()),
        _ => Err(Failure::work(format!("malformed tokens: {wrong} of {all}"))),
    }
}

/// Checks each line that is not blank. Returns the number of checked lines and of invalid ones. Writes each verdict before
/// it reads the next line, because the input may be endless; as JSON, writes all at the end.
fn report(input: &mut impl BufRead, json: bool, out: &mut impl Write) -> Result<(u64, u64), Failure> {
    let unwritten = |error: io::Error| output::write_failure(&error);
    let (mut all, mut wrong, mut line, mut verdicts) = (0, 0, Vec::new(), Vec::new());
    for number in 1.. {
        line.clear();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(|error| unreadable(&error))? == 0 {
            break;
        }
        let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < MAX_LINE_BYTES;
        if !is_whole {
            input.skip_until(b'\n').map_err(|error| unreadable(&error))?;
        }
        let text = line.trim_ascii();
        if text.is_empty() && is_whole {
            continue;
        }
        if text.contains(&0) {
            let what = "zero bytes, probably from UTF-16 within other text; save all of it as UTF-8";
            return Err(Failure::work(format!("line {number} of standard input contains {what}")));
        }
        let verdict = Verdict::of(number, str::from_utf8(text).ok().filter(|_| is_whole));
        all += 1;
        wrong += u64::from(!verdict.valid);
        if json {
            verdicts.push(verdict);
        } else {
            writeln!(out, "{verdict}").map_err(unwritten)?;
        }
    }
    if json {
        serde_json::to_writer(&mut *out, &verdicts).map_err(|error| unwritten(error.into()))?;
        out.write_all(b"\n").map_err(unwritten)?;
    }
    Ok((all, wrong))
}

impl Verdict {
    /// Checks `text`; `None` stands for a line that is too long or not UTF-8.
    fn of(line: u64, text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        let kind = token_kind(text);
        let prefix = kind.map(|_| text[..PREFIX_LEN].to_owned());
        let claimed = CredentialKind::ALL.iter().copied().find(|kind| text.starts_with(kind.token_prefix()));
        Self { line, valid: kind.is_some(), kind: kind.or(claimed).map(CredentialKind::name), prefix }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, valid, kind, prefix } = self;
        write!(f, "{line}: {}", if *valid { "valid" } else { "invalid" })?;
        kind.iter().copied().chain(prefix.as_deref()).try_for_each(|word| write!(f, " {word}"))
    }
}

#[cfg(test)]
mod tests {
    use catalogue_core::auth::NewToken;

    use super::*;

    #[test]
    fn each_line_gets_verdict_without_being_printed() {
        let token = NewToken::mint(CredentialKind::OAuth);
        let long = "x".repeat(MAX_LINE_BYTES as usize + 10);
        let spaces = " ".repeat(MAX_LINE_BYTES as usize + 10);
        let text = format!("\n  {0}\r\n{long}\n{spaces}{0}\nhunter2\nccat_x\n\u{e9}\n{0}", token.expose());
        let reported = |mut text: &[u8], json| {
            let mut out = Vec::new();
            let counts = report(&mut text, json, &mut out).unwrap();
            (counts, String::from_utf8(out).unwrap())
        };
        let prefix = token.shown_prefix();
        let expected = format!(
            "2: valid oauth {prefix}\n3: invalid\n4: invalid\n5: invalid\n6: invalid api-key\n7: invalid\n8: valid oauth \
             {prefix}\n"
        );
        assert_eq!(reported(text.as_bytes(), false), ((7, 5), expected));
        let item = |line| format!(r#"{{"line":{line},"valid":false,"kind":null,"prefix":null}}"#);
        assert_eq!(reported(b"\xff\n", true), ((1, 1), format!("[{}]\n", item(1))));
        assert_eq!(reported(b"x\n\ny", true).1, format!("[{},{}]\n", item(1), item(3)));
        assert_eq!(reported(b" \n\n", true), ((0, 0), "[]\n".to_owned()));
        assert_eq!(reported(b" \n\n", false), ((0, 0), String::new()));
    }

    /// Each verdict is written before the next line is read, so verdicts do not accumulate.
    #[test]
    fn verdicts_are_written_before_end_of_input() {
        struct Endless;
        impl io::Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(b'\n');
                buffer[0] = b'x';
                Ok(buffer.len())
            }
        }
        let mut output = [0; 1 << 10];
        let full = report(&mut io::BufReader::new(Endless), false, &mut &mut output[..]);
        assert!(full.unwrap_err().message().contains("standard output"));
        assert!(output.starts_with(b"1: invalid\n"));
    }
}
