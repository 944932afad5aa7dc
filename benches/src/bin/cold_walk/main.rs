//! Measures what a walk over all courses does to another client's answers, when the walk's pages have to come from the
//! disk: the server reads on the thread that asks, and with it wait the other requests of that thread.
//!
//! The server has the threads that it takes by itself. `--quick` shows that it runs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures and what it is at")]

mod disk;
mod hot;
mod walk;

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::{Data, Figures, Program, build};

use crate::hot::Hot;
use crate::walk::Walk;

/// What a read of a disk with moving parts takes, in µs.
const SLOW_READ: u32 = 5_000;

/// How much there is, and how long it is measured.
struct Extent {
    accounts: usize,
    courses: usize,
    time: Duration,
}

/// What goes on beside the client that is measured.
#[derive(Clone, Copy)]
struct Beside {
    name: &'static str,
    /// How many walk at the same time.
    walkers: usize,
    /// Whether the file is dropped from the system's cache beforehand.
    cold: bool,
}

const NOTHING: Beside = Beside { name: "nothing", walkers: 0, cold: false };
const ALL: [Beside; 5] = [
    NOTHING,
    Beside { name: "a walk, file in memory", walkers: 1, cold: false },
    Beside { name: "four walks, file in memory", walkers: 4, cold: false },
    Beside { name: "a walk, file on disk", walkers: 1, cold: true },
    Beside { name: "four walks, file on disk", walkers: 4, cold: true },
];
const SLOW: [Beside; 3] =
    [NOTHING, Beside { name: "a walk", walkers: 1, cold: true }, Beside { name: "four walks", walkers: 4, cold: true }];

fn main() -> Result<(), Box<dyn Error>> {
    let extent = match &*std::env::args().skip(1).collect::<Vec<_>>() {
        [] => Extent { accounts: 500, courses: 2_000, time: Duration::from_secs(8) },
        [quick] if quick == "--quick" => Extent { accounts: 50, courses: 500, time: Duration::from_millis(300) },
        _ => return Err("usage: cold_walk [--quick]".into()),
    };
    eprintln!("building the server");
    let catalogue = build("catalogue-server", "catalogue")?;
    eprintln!("importing {} courses of {} accounts", extent.accounts * extent.courses, extent.accounts);
    let data = Data::import(&catalogue, &vec![extent.courses; extent.accounts], false)?;

    eprintln!("measuring on this disk");
    let server = Program::start_unbound(serve(&mut Command::new(&catalogue), &data))?;
    print_head("on this disk");
    for (number, beside) in ALL.into_iter().enumerate() {
        print_row(&measure(&server, &data, beside, &extent, number)?);
    }
    drop(server);

    if !slowed(&catalogue).arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("\nNo strace that can delay reads is found, so no slow disk was simulated.");
        return Ok(());
    }
    eprintln!("measuring on a slow disk");
    let server = Program::start_unbound(serve(&mut slowed(&catalogue), &data))?;
    println!();
    print_head(&format!("every read of the file takes {} ms longer", SLOW_READ / 1_000));
    for (number, beside) in SLOW.into_iter().enumerate() {
        print_row(&measure(&server, &data, beside, &extent, number)?);
    }
    Ok(())
}

/// The server as a command, with what it keeps by default.
fn serve<'a>(command: &'a mut Command, data: &Data) -> &'a mut Command {
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", &data.address()])
}

/// The program with reads that take longer. By `-D` it is the process that is started, and strace ends with it.
fn slowed(program: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=pread64"]);
    command.arg("-e").arg(format!("inject=pread64:delay_enter={SLOW_READ}")).arg(program);
    command
}

/// The figures of one row.
struct Row {
    name: &'static str,
    /// Latencies of the client in µs.
    latencies: Figures,
    /// Pages that were walked, and the time that it took.
    pages: u64,
    time: Duration,
    /// What the server had the disk read, in bytes.
    read: u64,
}

/// Measures a client while others walk, until all is walked or the time is over. Each walk asks for pages of another length
/// than those before, so that none of its answers was kept.
fn measure(
    server: &Program,
    data: &Data,
    beside: Beside,
    extent: &Extent,
    number: usize,
) -> Result<Row, Box<dyn Error>> {
    let address = server.addresses()[0];
    let walk = Walk::over(&data.accounts()[1..], 100 - number);
    match beside.cold {
        true => disk::evict(&data.path())?,
        false => disk::load(&data.path())?,
    }
    let mut client = Hot::warm_up(address, &data.accounts()[0])?;
    let over = AtomicBool::new(false);
    let end = Instant::now() + extent.time;
    let read = disk::bytes_read(server.id())?;
    let begun = Instant::now();
    let (latencies, pages) = thread::scope(|scope| {
        let walkers: Vec<_> = (0..beside.walkers).map(|_| scope.spawn(|| walk.go(address, end))).collect();
        let client = scope.spawn(|| client.latencies(end, &over));
        let pages: Result<Vec<u64>, String> =
            walkers.into_iter().map(|walker| walker.join().map_err(|_| "a walker failed")?).collect();
        if beside.walkers > 0 {
            over.store(true, Ordering::Relaxed);
        }
        let latencies = client.join().map_err(|_| "the client failed")?;
        Ok::<_, String>((latencies?, pages?.into_iter().sum()))
    })?;
    let time = begun.elapsed();
    Ok(Row { name: beside.name, latencies, pages, time, read: disk::bytes_read(server.id())? - read })
}

fn print_head(title: &str) {
    println!("| beside ({title}) | requests | p50 µs | p99 µs | most µs | pages walked a second | MiB read |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
}

fn print_row(row: &Row) {
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| row.latencies.quantile(part));
    println!(
        "| {} | {} | {p50:.0} | {p99:.0} | {most:.0} | {:.0} | {:.0} |",
        row.name,
        row.latencies.count(),
        row.pages as f64 / row.time.as_secs_f64(),
        row.read as f64 / f64::from(1 << 20),
    );
}
