//! Compares `catalogue serve` with a handler on the same stack that returns constant bytes, by processor time per request.
//! Each server has one thread. If `taskset` exists, servers and client run on different processors.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and its progress")]

mod client;
mod databases;
mod measure;
mod report;
mod rows;
mod statements;
mod writer;

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use catalogue_benches::{Data, Failure, Large, Program, build, on_one_processor, pin_this_process};
use clap::Parser;
use clap::builder::RangedU64ValueParser;

use crate::rows::{NAMES, Servers};

/// Number of courses with modules; all further courses have none.
const WITH_MODULES: usize = 100_000;

/// Options of the measurement.
#[derive(Clone, Debug, Parser)]
#[command(name = "load", about = "Measure `catalogue serve` against a handler that returns constant bytes")]
struct Options {
    /// Maximum number of requests in one measurement
    #[arg(long, value_name = "N", default_value = "20000", default_value_if("quick", "true", "2000"))]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    requests: u64,
    /// Number of measurements of each row
    #[arg(long, value_name = "N", default_value = "7", default_value_if("quick", "true", "3"))]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000))]
    rounds: usize,
    /// Number of courses: 100 per account on average, and a tenth of all in the first account
    #[arg(long, value_name = "N", default_value = "100000", default_value_if("quick", "true", "10000"))]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1_000..=100_000_000))]
    courses: usize,
    /// Add the rows `size`: a database with about N additional courses without modules, compared with that of --courses
    #[arg(long, value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(100_000..=100_000_000))]
    large: Option<usize>,
    /// Measure only rows whose names contain this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
    /// Use a private PostgreSQL and measure its processes too; omit rows with commits
    #[arg(long)]
    postgres: bool,
    /// Test run with a tenth of the data and few requests
    #[arg(long)]
    quick: bool,
}

impl Options {
    fn names(&self) -> Vec<&'static str> {
        let mut names = all_names();
        let is_possible = |name| match self.postgres {
            _ if databases::LARGE.contains(&name) => self.large.is_some(),
            true => !rows::is_under_commits(name),
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
    [&NAMES[..], &databases::LARGE, &statements::NAMES, &databases::VIEWS].concat()
}

fn main() -> Result<(), Failure> {
    let options = &Options::parse();
    let names = options.names();
    if names.is_empty() {
        let all = all_names().join(", ");
        return Err(format!("--only: no row has this text in its name; the rows are: {all}").into());
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
        eprintln!("adding about {courses} copies of them");
        Large::of(&data, courses)
    });
    let large = large.transpose()?;
    let address = ["--database", &data.address()];
    let servers = Servers { hot: serve(&catalogue, &address, true)?, cold: serve(&catalogue, &address, false)? };
    let named = |known: &[&'static str]| names.iter().copied().filter(|name| known.contains(name)).collect::<Vec<_>>();
    let (_constant, mut rows) = rows::compare_with_constant(&named(&NAMES), &constant, &data, &servers)?;
    let (_handlers, sql_rows) = statements::rows(&named(&statements::NAMES), &one_statement, &data, &servers)?;
    rows.extend(sql_rows);
    let (_large_server, large_rows) =
        databases::large_rows(&named(&databases::LARGE), &catalogue, &data, large.as_ref(), &servers.cold)?;
    rows.extend(large_rows);
    let (_views_server, view_rows) = databases::view_rows(&named(&databases::VIEWS), &catalogue, &data, &servers.cold)?;
    rows.extend(view_rows);

    eprintln!("measuring {} rows in {} rounds", rows.len(), options.rounds);
    let results = measure::all(&rows, &data, options)?;
    report::print_rows(courses, accounts, &results);
    Ok(())
}

/// Starts a server with the program's defaults, except for its address, the arguments that name its database, and whether it
/// has a page cache.
fn serve(catalogue: &Path, database: &[impl AsRef<OsStr>], is_cached: bool) -> io::Result<Program> {
    let mut command = on_one_processor(catalogue);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(database);
    if !is_cached {
        command.args(["--page-cache", "0"]);
    }
    Program::start(&mut command, 1)
}
