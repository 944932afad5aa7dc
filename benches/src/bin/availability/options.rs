//! [`Options`]: what the command line can say.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::str::FromStr;

pub(crate) const USAGE: &str = "\
usage: TOKEN=… availability ADDRESS [--connections N] [--rate N] [--allow STATUS] [TARGET…]
  ADDRESS          whom to ask, such as 127.0.0.1:8080
  --connections N  over how many connections (16), each with one request on the way
  --rate N         how many requests a second at most; as many as are answered without it
  --allow STATUS   a status beside 200 that is no failure of the run
  TARGET           what to ask for, in turn (/api/v1/courses and /api/v1/me)
Each line on standard input begins a phase of that name; its end ends the program.";

/// Whom to ask, and for what.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) address: SocketAddr,
    pub(crate) connections: u32,
    /// Requests a second, of all connections.
    pub(crate) rate: Option<u32>,
    pub(crate) allowed: Vec<u16>,
    pub(crate) targets: Vec<String>,
}

impl Options {
    /// The options of this process, or what is wrong with them.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut address, mut rate) = (None, None);
        let (mut connections, mut allowed, mut targets) = (16, Vec::new(), Vec::new());
        while let Some(argument) = arguments.next() {
            match &*argument {
                "--connections" => connections = value::<NonZeroU32>(&argument, arguments.next())?.get(),
                "--rate" => rate = Some(value::<NonZeroU32>(&argument, arguments.next())?.get()),
                "--allow" => allowed.push(value(&argument, arguments.next())?),
                target if target.starts_with('/') => targets.push(argument),
                option if option.starts_with('-') => return Err(format!("{argument:?} is no option\n{USAGE}")),
                _ if address.is_none() => address = Some(value("ADDRESS", Some(argument))?),
                _ => return Err(format!("{argument:?} is too much\n{USAGE}")),
            }
        }
        let address = address.ok_or_else(|| format!("no address was given\n{USAGE}"))?;
        if targets.is_empty() {
            targets = ["/api/v1/courses", "/api/v1/me"].map(str::to_owned).to_vec();
        }
        Ok(Self { address, connections, rate, allowed, targets })
    }
}

fn value<T: FromStr>(option: &str, value: Option<String>) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{option} takes a value\n{USAGE}"))?;
    value.parse().map_err(|_| format!("{option} cannot be {value:?}\n{USAGE}"))
}
