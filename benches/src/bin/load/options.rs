//! [`Options`]: what the command line can say.

use std::str::FromStr;

pub(crate) const USAGE: &str = "\
usage: load [--requests N] [--rounds N] [--only TEXT] [--quick] [--large] [--json]
  --requests N  how many requests make one measurement at most (20000)
  --rounds N    how often each work is measured, in turn with the others (7)
  --only TEXT   only the works with this in their names
  --quick       a tenth of the data, few requests: to see that it runs
  --large       also a list of a million courses beside one of a thousand; making it takes minutes
  --json        figures as one JSON object instead of tables";

/// What is to be measured, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) requests: u64,
    pub(crate) rounds: usize,
    /// What a work has in its name; the empty text is in all.
    pub(crate) only: String,
    pub(crate) quick: bool,
    pub(crate) large: bool,
    pub(crate) json: bool,
}

impl Options {
    /// The options of this process, or what is wrong with them.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut requests, mut rounds) = (None, None);
        let mut options = Self { requests: 0, rounds: 0, only: String::new(), quick: false, large: false, json: false };
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--requests" => requests = Some(number(&argument, arguments.next())?),
                "--rounds" => rounds = Some(number(&argument, arguments.next())?),
                "--only" => {
                    options.only = arguments.next().ok_or_else(|| format!("--only takes a text\n{USAGE}"))?;
                }
                "--quick" => options.quick = true,
                "--large" => options.large = true,
                "--json" => options.json = true,
                _ => return Err(format!("{argument:?} is no option\n{USAGE}")),
            }
        }
        options.requests = requests.unwrap_or(if options.quick { 2_000 } else { 20_000 });
        options.rounds = rounds.unwrap_or(if options.quick { 3 } else { 7 });
        Ok(options)
    }

    /// How many accounts there are, each with 90 courses, and how many more the first one has.
    pub(crate) const fn data(&self) -> (usize, usize) {
        if self.quick { (100, 1_000) } else { (1_000, 10_000) }
    }
}

fn number<N: FromStr + PartialOrd + From<u8>>(option: &str, value: Option<String>) -> Result<N, String> {
    let number = value.and_then(|value| value.parse().ok()).filter(|number| *number >= N::from(1));
    number.ok_or_else(|| format!("{option} takes a number from 1 on\n{USAGE}"))
}
