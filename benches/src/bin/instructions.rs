//! Counts the instructions of one call of the catalogue over SQLite, by valgrind. The count does not depend on the machine's
//! load, so two versions can be compared.
//!
//! Each kind of call runs twice with different counts; the difference excludes the program's start.
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use catalogue_benches::{Call, Failure, HostApp, Library, Owner, build};
use clap::Parser;

/// Number of courses in the database.
const COURSES: usize = 10_000;
/// Numbers of calls in the shorter and in the longer run.
const TIMES: [u64; 2] = [200, 1_200];

#[derive(Parser)]
#[command(name = "instructions", about = "Count the instructions of one call of the catalogue by valgrind")]
struct Options;

fn main() -> Result<(), Failure> {
    Options::parse();
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        return Err(format!("cannot run valgrind: {error}; install it, or add it to PATH").into());
    }
    let program = build("catalogue-benches", "one_call")?;
    let library = Library::with_courses(COURSES);
    println!(
        "Instructions of one call, without a socket; valgrind has no SHA instructions, so hashing counts for more.\n"
    );
    println!("| request | cached | cached, signed token | uncached | uncached, over views |\n|---|--:|--:|--:|--:|");
    let (own, views) = (arguments(&library.data.path(), library.owner(), None), views(&library)?);
    for call in Call::ALL {
        let runs = [("hot", &own), ("signed", &own), ("cold", &own), ("cold", &views)];
        let [hot, signed, cold, views] = runs.map(|(cache, database)| per_call(&program, call, cache, database));
        println!("| {} | {} | {} | {} | {} |", call.name(), hot?, signed?, cold?, views?);
    }
    Ok(())
}

/// Returns the arguments of `one_call` for a database.
fn arguments(path: &Path, owner: &Owner, views: Option<&Path>) -> Vec<OsString> {
    let (token, courses) = (owner.token.expose(), owner.courses.to_string());
    let views = views.into_iter().flat_map(|views| ["--views".as_ref(), views.as_os_str()]);
    [path.as_os_str(), token.as_ref(), courses.as_ref()].into_iter().chain(views).map(OsString::from).collect()
}

/// Returns the arguments of `one_call` for the same courses in another program's tables.
fn views(library: &Library) -> Result<Vec<OsString>, Box<dyn Error>> {
    let host_app = HostApp::copied_from(&library.data)?;
    let [keys, courses] = host_app.files.as_ref().ok_or("the courses are not in a file")?;
    Ok(arguments(keys, &host_app.owner, Some(courses)))
}

fn per_call(program: &Path, call: Call, cache: &str, database: &[OsString]) -> Result<u64, Box<dyn Error>> {
    let [fewer, more] = TIMES.map(|times| count(program, call, cache, times, database));
    Ok((more? - fewer?) / (TIMES[1] - TIMES[0]))
}

/// Returns the number of instructions in a run of `times` calls.
fn count(program: &Path, call: Call, cache: &str, times: u64, database: &[OsString]) -> Result<u64, Box<dyn Error>> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([&call.name(), cache, &times.to_string()])
        .args(database)
        .output()?;
    let report = String::from_utf8_lossy(&run.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match collected {
        Some(instructions) if run.status.success() => Ok(instructions),
        _ => Err(format!("valgrind failed with {}: {report}", run.status).into()),
    }
}
