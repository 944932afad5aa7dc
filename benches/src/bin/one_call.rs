//! Sends one request to a catalogue over SQLite repeatedly, in one thread and without a socket, for tools that count or sample
//! instructions.

use std::hint::black_box;
use std::path::PathBuf;

use catalogue_benches::{Caller, Failure, Library, Work, account};
use catalogue_core::Catalogue;
use catalogue_sqlite::SqliteStorage;
use clap::{Parser, ValueEnum};

/// Number of courses in a new database.
const COURSES: usize = 10_000;

#[derive(Parser)]
#[command(name = "one_call", about = "Sends one request to a catalogue over SQLite again and again")]
struct Options {
    /// What is asked for
    work: Work,
    /// Whether answers are kept, by an API key or by a signed token that is kept too, or rendered each time
    cache: Cache,
    /// How often
    times: usize,
    /// A database that is there already; without it one is made
    #[arg(requires_all = ["token", "courses"])]
    database: Option<PathBuf>,
    /// A token that reads the database
    token: Option<String>,
    /// How many courses its account has, as the benchmarks make them up
    courses: Option<usize>,
    /// A database with views to read the courses from; the other one then has the keys alone
    #[arg(long, requires = "database")]
    views: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Cache {
    Hot,
    Signed,
    Cold,
}

fn main() -> Result<(), Failure> {
    let Options { work, cache, times, database, token, courses, views } = Options::parse();
    if let (Some(path), Some(token), Some(courses)) = (database, token, courses) {
        let storage = match views {
            Some(views) => SqliteStorage::open_views(&path, views)?,
            None => SqliteStorage::open(&path)?,
        };
        return repeat(&caller(storage, cache, &token), work, courses, times);
    }
    let library = Library::with_courses(COURSES);
    let caller = caller(library.storage().clone(), cache, library.owner().token.expose());
    repeat(&caller, work, COURSES, times)
}

fn caller(storage: SqliteStorage, cache: Cache, token: &str) -> Caller {
    let builder = Catalogue::with_api_keys(storage);
    match cache {
        Cache::Hot => Caller::new(builder, token),
        Cache::Signed => Caller::signed(builder, &account(0)),
        Cache::Cold => Caller::new(builder.page_cache(0), token),
    }
}

fn repeat(caller: &Caller, work: Work, courses: usize, times: usize) -> Result<(), Failure> {
    let request = caller.request_for(work, courses)?;
    for _ in 0..times {
        black_box(caller.send(black_box(&request)));
    }
    Ok(())
}
