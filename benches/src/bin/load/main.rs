//! Measures `catalogue serve` beside a handler that answers constant bytes on the same stack: processor time per request
//! by the processes' own accounts, over loopback, on one thread and, where `taskset` is found, one processor each.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod client;
mod measure;
mod memory;
mod options;
mod report;
mod works;
mod writer;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;

use catalogue_benches::{Data, Program, build, pin_this_process};

use crate::client::INTERRUPTED;
use crate::memory::Memory;
use crate::options::Options;
use crate::report::Report;

/// How many courses each account has; the first has more.
const COURSES: usize = 90;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    thread::spawn(note_interrupt);
    match run(&options) {
        Ok(report) if options.json => println!("{}", report.json()),
        Ok(report) => print!("{}", report.tables()),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// All servers end and all files are removed when this returns.
fn run(options: &Options) -> Result<Report, Box<dyn Error>> {
    eprintln!("building the server and the constant handler");
    let catalogue = build("catalogue-server", "catalogue")?;
    let constant = build("catalogue-benches", "constant")?;
    pin_this_process();

    let (accounts, more) = options.data();
    let mut sizes = vec![COURSES; accounts];
    sizes[0] += more;
    let courses = sizes.iter().sum();
    eprintln!("importing {courses} courses of {accounts} accounts");
    let data = Data::import(&catalogue, &sizes, true)?;
    let hot = serve(&catalogue, &data, &[])?;
    let cold = serve(&catalogue, &data, &["--page-cache", "0"])?;
    let (_constant, mut works) = works::beside_constant(&constant, &data, &hot, &cold)?;
    works.retain(|work| work.name.contains(&options.only));

    eprintln!("measuring {} works in {} rounds", works.len(), options.rounds);
    let mut rows = measure::all(&works, &data, options)?;
    if options.large {
        let [long, short] = [1_000_000, 1_000].map(|courses| {
            eprintln!("importing {courses} courses of one account");
            Data::import(&catalogue, &[courses], false)
        });
        let (long, short) = (long?, short?);
        let [of_long, of_short] = [&long, &short].map(|data| serve(&catalogue, data, &["--page-cache", "0"]));
        let (of_long, of_short) = (of_long?, of_short?);
        let works = works::long_beside_short((&of_long, &long), (&of_short, &short))?;
        rows.extend(measure::all(&works, &long, options)?);
    }
    eprintln!("walking over all accounts");
    // By servers that have done nothing yet.
    let fresh = [serve(&catalogue, &data, &[])?, serve(&catalogue, &data, &["--page-cache", "0"])?];
    let memory = [Memory::of(&fresh[0], &data)?, Memory::of(&fresh[1], &data)?];
    Ok(Report { accounts, courses, rows, memory })
}

/// The server over that database, as its users start it.
fn serve(catalogue: &Path, data: &Data, options: &[&str]) -> Result<Program, Box<dyn Error>> {
    let mut arguments = ["serve", "--listen", "127.0.0.1:0", "--database"].map(str::to_owned).to_vec();
    arguments.push(data.address());
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    Ok(Program::start(catalogue, &arguments, 1)?)
}

/// Lets the measurements end when the user wants it, so that nothing is left behind.
fn note_interrupt() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
}
