//! Sends one request to a catalogue over SQLite repeatedly, in one thread and without a socket, for tools that count or sample
//! instructions.

use std::hint::black_box;
use std::path::PathBuf;

use catalogue_benches::{Call, Caller, Failure, Library, account};
use catalogue_core::Catalogue;
use catalogue_sqlite::SqliteStorage;
use clap::{Parser, ValueEnum};

/// Number of courses in a new database.
const COURSES: usize = 10_000;

#[derive(Parser)]
#[command(name = "one_call", about = "Send one request to a catalogue over SQLite repeatedly")]
struct Options {
    /// Kind of the call
    call: Call,
    /// Cached with an API key (hot) or a signed token (signed), or rendered each time (cold)
    cache: Cache,
    /// Number of requests
    times: usize,
    /// Existing database [default: create one]
    #[arg(requires_all = ["token", "courses"])]
    database: Option<PathBuf>,
    /// Token of the account in the database
    token: Option<String>,
    /// Number of generated courses of the account
    courses: Option<usize>,
    /// Database with views to read the courses from; the other one then has only keys
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
    let Options { call, cache, times, database, token, courses, views } = Options::parse();
    if let (Some(path), Some(token), Some(courses)) = (database, token, courses) {
        let storage = match views {
            Some(views) => SqliteStorage::open_views(&path, views)?,
            None => SqliteStorage::open(&path)?,
        };
        return repeat(&caller(storage, cache, &token), call, courses, times);
    }
    let library = Library::with_courses(COURSES);
    let caller = caller(library.storage.clone(), cache, library.owner().token.expose());
    repeat(&caller, call, COURSES, times)
}

fn caller(storage: SqliteStorage, cache: Cache, token: &str) -> Caller {
    let builder = Catalogue::with_api_keys(storage);
    match cache {
        Cache::Hot => Caller::new(builder, token),
        Cache::Signed => Caller::signed(builder, &account(0)),
        Cache::Cold => Caller::new(builder.page_cache(0), token),
    }
}

fn repeat(caller: &Caller, call: Call, courses: usize, times: usize) -> Result<(), Failure> {
    let request = caller.request_for(call, courses)?;
    for _ in 0..times {
        black_box(caller.send(black_box(&request)));
    }
    Ok(())
}
