//! What the example hosts share: two options, and when to stop.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};

/// The options that every example takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// `--database sqlite:PATH`; `catalogue.db` by default.
    pub database: PathBuf,
    /// `--listen ADDRESS`; `127.0.0.1:8080` by default.
    pub listen: String,
}

impl Arguments {
    /// The options of this process.
    ///
    /// # Errors
    /// A sentence about the first option that cannot be understood.
    pub fn from_command_line() -> Result<Self, String> {
        Self::parse(std::env::args().skip(1))
    }

    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self { database: "catalogue.db".into(), listen: "127.0.0.1:8080".to_owned() };
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--listen" => arguments.listen = value,
                "--database" => {
                    let path = value.strip_prefix("sqlite:");
                    arguments.database = path.ok_or_else(|| format!("{value} is not of the form sqlite:PATH"))?.into();
                }
                _ => return Err(format!("{option} is unknown; the options are --database and --listen")),
            }
        }
        Ok(arguments)
    }
}

/// Ends with the first SIGTERM or SIGINT.
///
/// # Panics
/// When the process cannot listen for signals.
pub async fn stop_signal() {
    let mut terminate = signal(SignalKind::terminate()).expect("a handler of SIGTERM");
    let mut interrupt = signal(SignalKind::interrupt()).expect("a handler of SIGINT");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_their_defaults() {
        assert_eq!(parse("").unwrap().database, PathBuf::from("catalogue.db"));
        let arguments = parse("--listen 127.0.0.1:0 --database sqlite:other.db").unwrap();
        assert_eq!(arguments, Arguments { database: "other.db".into(), listen: "127.0.0.1:0".to_owned() });
        for wrong in ["--listen", "--port 1", "--database other.db"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
