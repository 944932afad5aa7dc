//! Compares `catalogue serve` with a handler that returns constant bytes on the same stack: processor time per request from
//! the kernel's accounting, over loopback, on one thread and, if `taskset` exists, one processor each.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod client;
mod measure;
mod report;
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

use crate::works::{NAMES, Servers};

/// Arguments that disable the page cache.
const UNCACHED: [&str; 2] = ["--page-cache", "0"];

/// Number of first courses that have modules.
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

    /// Returns the number of courses of each account.
    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![90; self.courses / 100];
        sizes[0] += self.courses / 10;
        sizes
    }
}

fn all_names() -> Vec<&'static str> {
    [&NAMES[..], &size::NAMES, &statements::NAMES, &views::NAMES].concat()
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
    let servers = Servers { hot: serve(&catalogue, &data, &[])?, cold: serve(&catalogue, &data, &UNCACHED)? };
    let (of_views, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| views::NAMES.contains(name));
    let (of_size, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| size::NAMES.contains(name));
    let (of_statements, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| statements::NAMES.contains(name));
    let (_constant, mut works) = works::compare_with_constant(&names, &constant, &data, &servers)?;
    let (_handlers, compared_with_statements) =
        statements::works(&of_statements, &one_statement, &data, &servers.hot, &servers.cold)?;
    works.extend(compared_with_statements);
    let (_many, of_many) = size::works(&of_size, &catalogue, &data, large.as_ref(), &servers.cold)?;
    works.extend(of_many);
    let (_of_views, over_views) = views::works(&of_views, &catalogue, &data, &servers.cold)?;
    works.extend(over_views);

    eprintln!("measuring {} works in {} rounds", works.len(), options.rounds);
    let rows = measure::all(&works, &data, options)?;
    report::print_works(courses, accounts, &rows);
    Ok(())
}

/// Starts a server over the database, as users start it except for `arguments`.
fn serve(catalogue: &Path, data: &Data, arguments: &[&str]) -> Result<Program, Box<dyn Error>> {
    let mut command = on_one_processor(catalogue);
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &data.address()]);
    command.args(arguments);
    Ok(Program::start(&mut command, 1)?)
}
