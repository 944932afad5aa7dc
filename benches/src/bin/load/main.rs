//! Measures `catalogue serve` beside a handler that answers constant bytes on the same stack: processor time per request
//! by the processes' own accounts, over loopback, on one thread and, where `taskset` is found, one processor each.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod client;
mod measure;
mod memory;
mod memory_latency;
mod report;
mod signed;
mod size;
mod statements;
mod views;
mod works;
mod writer;

use std::error::Error;
use std::path::Path;

use catalogue_benches::{Data, Failure, Large, Program, build, on_one_processor, pin_this_process};
use clap::Parser;
use clap::builder::RangedU64ValueParser;

use crate::memory::Memory;
use crate::signed::Signed;
use crate::works::{NAMES, Servers};

/// Keeps no answers.
const UNCACHED: [&str; 2] = ["--page-cache", "0"];

/// How many of the first courses have modules.
const WITH_MODULES: usize = 100_000;

/// What is to be measured, and how often.
#[derive(Clone, Debug, Parser)]
#[command(name = "load", about = "Measures `catalogue serve` beside a handler that answers constant bytes")]
struct Options {
    /// How many requests make one measurement at most
    #[arg(long, value_name = "N", default_value = "20000", default_value_if("quick", "true", "2000"))]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    requests: u64,
    /// How often each work is measured, in turn with the others
    #[arg(long, value_name = "N", default_value = "7", default_value_if("quick", "true", "3"))]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000))]
    rounds: usize,
    /// How many courses there are; a hundred for each account on average, and a tenth of all in the first
    #[arg(long, value_name = "N", default_value = "100000", default_value_if("quick", "true", "10000"))]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1_000..=100_000_000))]
    courses: usize,
    /// Measures answers from so many courses, too, beside those from the others: about as many, without modules, a tenth of
    /// them in the first account
    #[arg(long, value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(100_000..=100_000_000))]
    large: Option<usize>,
    /// Only the works with this in their names
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
    /// A private PostgreSQL in place of SQLite, and what its processes use; nothing commits meanwhile
    #[arg(long)]
    postgres: bool,
    /// How many servers share the database; the connections are spread over them
    #[arg(long, value_name = "N", default_value = "1", requires = "postgres")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=16))]
    servers: usize,
    /// Counts a measurement only where a step through 16 MiB of memory takes at most so many ns before and after it, and waits
    /// for that up to ten minutes
    #[arg(long, value_name = "NS")]
    quiet: Option<u64>,
    /// A tenth of the data, few requests: to see that it runs
    #[arg(long)]
    quick: bool,
}

impl Options {
    fn names(&self) -> Vec<&'static str> {
        let mut names = all_names();
        let is_possible = |name| match self.postgres {
            _ if size::NAMES.contains(&name) => self.large.is_some(),
            true => !works::is_under_commits(name),
            false => !statements::NAMES.contains(&name),
        };
        names.retain(|name| name.contains(&self.only) && is_possible(name));
        names
    }

    /// How many courses each account has.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![90; self.courses / 100];
        sizes[0] += self.courses / 10;
        sizes
    }
}

fn all_names() -> Vec<&'static str> {
    [&NAMES[..], &signed::NAMES, &size::NAMES, &statements::NAMES, &views::NAMES].concat()
}

fn main() -> Result<(), Failure> {
    let options = &Options::parse();
    let names = options.names();
    if names.is_empty() {
        let all = all_names().join(", ");
        return Err(format!("--only leaves nothing to measure; the works are: {all}").into());
    }
    eprintln!("building the server and the constant handler");
    let catalogue = build("catalogue-server", "catalogue")?;
    let constant = build("catalogue-benches", "constant")?;
    let one_statement = build("catalogue-benches", "one_statement")?;
    pin_this_process();

    let sizes = options.sizes();
    let (courses, accounts) = (sizes.iter().sum(), sizes.len());
    eprintln!("importing {courses} courses of {accounts} accounts");
    let data = match options.postgres {
        true => Data::postgres(&sizes, WITH_MODULES)?,
        false => Data::sqlite(&sizes, WITH_MODULES)?,
    };
    let large = options.large.map(|courses| {
        eprintln!("copying them until there are {courses}");
        Large::of(&data, courses)
    });
    let large = large.transpose()?;
    let start = |arguments| serve(options.servers, &catalogue, &data, arguments);
    let servers = Servers {
        hot: start(&[])?,
        cold: start(&UNCACHED)?,
        unlogged: start(&["--log", "info,catalogue::access=off"])?,
    };
    let (of_tokens, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| signed::NAMES.contains(name));
    let (of_views, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| views::NAMES.contains(name));
    let (of_size, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| size::NAMES.contains(name));
    let (of_statements, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| statements::NAMES.contains(name));
    let (_constants, mut works) = works::beside_constant(&names, &constant, &data, &servers)?;
    let signed = Signed::start(options.servers, &catalogue, &data)?;
    works.extend(signed.works(&of_tokens, &data, &servers.hot)?);
    let (_handlers, beside_statements) =
        statements::works(&of_statements, &one_statement, &data, &servers.hot, &servers.cold)?;
    works.extend(beside_statements);
    let (_many, of_many) = size::works(&of_size, &catalogue, &data, large.as_ref(), &servers.cold)?;
    works.extend(of_many);
    let (_of_views, over_views) = views::works(&of_views, &catalogue, &data, &servers.cold)?;
    works.extend(over_views);

    eprintln!("measuring {} works in {} rounds", works.len(), options.rounds);
    let (rows, latencies) = measure::all(&works, &data, options)?;
    eprintln!("walking over all accounts");
    // By servers that have done nothing yet.
    let fresh = [serve(1, &catalogue, &data, &[])?, serve(1, &catalogue, &data, &UNCACHED)?];
    let memory = [Memory::of(&fresh[0], &data)?, Memory::of(&fresh[1], &data)?];
    report::print_works(courses, accounts, &rows);
    report::print_latencies(&latencies);
    report::print_memory(memory);
    if !of_tokens.is_empty() {
        // By a server that has kept none yet.
        report::print_kept_tokens(Signed::start(1, &catalogue, &data)?.memory(&data)?);
    }
    Ok(())
}

/// Servers over that database, as its users start them but for these arguments.
fn serve(number: usize, catalogue: &Path, data: &Data, arguments: &[&str]) -> Result<Vec<Program>, Box<dyn Error>> {
    let mut command = on_one_processor(catalogue);
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &data.address()]);
    command.args(arguments);
    (0..number).map(|_| Ok(Program::start(&mut command, 1)?)).collect()
}
