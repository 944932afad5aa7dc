//! Measures the catalogue on PostgreSQL by the number of courses and of servers: blocks that a read looks into, plans,
//! round trips, processor time of the servers and of the database, and room on the disk.
//!
//! `--quick` shows that it runs. The largest size takes 5 GB of the disk.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod callers;
mod cost;
mod database;
mod fleet;
mod interrupt;
mod look_ups;
mod options;
mod plans;
mod report;
mod rows;

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use catalogue_benches::{build, pin_this_process};

use crate::callers::{Callers, FIRST_PAGE, request};
use crate::cost::{Cost, Work};
use crate::database::Database;
use crate::options::Options;
use crate::plans::Plans;

/// A client's connections to a server that is measured alone: more than it has to the database.
const CONNECTIONS: usize = 16;
/// A client's connections to each of several. A server that has more to do at a time pays less for each request, so they
/// are as many whether there is one server or four.
const CONNECTIONS_TO_EACH: usize = 4;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    interrupt::listen();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The servers and the database end and all files are removed when this returns.
fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    eprintln!("building the server");
    let catalogue = build("catalogue-server", "catalogue")?;
    pin_this_process();
    let database = Database::start(rows::room(options.courses))?;
    let storage = database.storage("")?;
    let mut before = 0;
    for courses in options.sizes() {
        let accounts = rows::accounts(courses);
        eprintln!("making {courses} courses of {accounts} accounts");
        rows::grow(&database, before, courses)?;
        before = courses;
        let callers = Callers::of(&database, &storage, accounts)?;
        report::size(courses, accounts, callers.courses, &rows::sizes(&database)?);
        eprintln!("reading plans");
        show_plans(&database, &callers, courses == options.courses)?;
        eprintln!("measuring");
        one_server(&catalogue, &database, &callers, options)?;
        let look_up = look_ups::measure(&database, options.requests)?;
        println!(
            "\nA look-up of a credential: {:.1} µs of the database, {:.1} of the asking side.",
            look_up.database, look_up.driver
        );
    }
    let callers = Callers::of(&database, &storage, rows::accounts(before))?;
    several_servers(&catalogue, &database, &callers, options)
}

/// What each kind of call sends to the database, and what that does for it; an error where it is not as it should be.
fn show_plans(database: &Database, callers: &Callers, whole: bool) -> Result<(), Box<dyn Error>> {
    let (keeping, rendering) = (Plans::of(database, true)?, Plans::of(database, false)?);
    let mut shown = Vec::new();
    report::head_of_plans();
    for (name, plans, token, path, number) in [
        ("kept page", &keeping, &callers.token, FIRST_PAGE, 1),
        ("first page", &rendering, &callers.token, FIRST_PAGE, 2),
        ("deep page", &rendering, &callers.token, &callers.deep_page, 2),
        ("first page, strewn", &rendering, &callers.strewn, FIRST_PAGE, 2),
        ("course", &rendering, &callers.token, &callers.detail, 2),
    ] {
        let statements = plans.call(database, token, path)?;
        if statements.len() != number {
            return Err(format!("{name}: {} statements instead of {number}", statements.len()).into());
        }
        for statement in &statements {
            statement.check()?;
        }
        report::plans(name, &statements);
        shown.extend(statements.last().map(|last| format!("{}\n\n{}", last.text, last.shown())));
    }
    if whole {
        shown.dedup();
        println!("\n```text\n{}```", shown.join("\n"));
    }
    Ok(())
}

/// What requests cost one server and the database.
fn one_server(
    catalogue: &Path,
    database: &Database,
    callers: &Callers,
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    report::head_of_costs("one server");
    for keeping in [true, false] {
        let servers = fleet::start(catalogue, database, 1, keeping)?;
        let address = servers[0].addresses()[0];
        for work in works(keeping, callers, address)? {
            report::cost(work.name, &Cost::of(&work, options.requests, CONNECTIONS, &servers, address, database)?);
        }
    }
    Ok(())
}

/// What the same requests cost two and four servers, and whether these answer alike.
fn several_servers(
    catalogue: &Path,
    database: &Database,
    callers: &Callers,
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    let numbers = [1, 2, 4];
    let mut compared = 0;
    for keeping in [true, false] {
        for number in numbers {
            eprintln!("measuring {number} servers");
            let servers = fleet::start(catalogue, database, number, keeping)?;
            compared += fleet::check_same(&servers, database, callers)?;
            let address = fleet::listen_before(&servers)?;
            report::head_of_costs(&format!("servers: {number}"));
            for work in works(keeping, callers, address)? {
                report::cost(
                    work.name,
                    &Cost::of(&work, options.requests, CONNECTIONS_TO_EACH, &servers, address, database)?,
                );
            }
        }
    }
    println!("\n{compared} answers were the same whichever server gave them.");
    Ok(())
}

/// What is asked of servers that keep answers, or of those that render each anew.
fn works(keeping: bool, callers: &Callers, address: SocketAddr) -> Result<Vec<Work>, Box<dyn Error>> {
    let of_largest = |path: &str| vec![request(&callers.token, path, "")];
    let walk = callers.walk.iter().map(|token| request(token, FIRST_PAGE, "")).collect();
    Ok(match keeping {
        true => vec![
            Work::new("kept page", of_largest(FIRST_PAGE)),
            Work::not_modified("304", &callers.token, FIRST_PAGE, address)?,
            Work::new("kept page, accounts in turn", walk),
        ],
        false => vec![
            Work::new("first page", of_largest(FIRST_PAGE)),
            Work::new("deep page", of_largest(&callers.deep_page)),
            Work::new("course", of_largest(&callers.detail)),
            Work::new("first page, accounts in turn", walk),
        ],
    })
}
