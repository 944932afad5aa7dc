//! Sends one request to a catalogue over SQLite again and again, in one thread and without a socket, for tools that
//! count or sample instructions.
//!
//! Arguments: the work (such as `first-page`), `hot`, `cold` or `limited`, and how often; then, where the database is not to be made
//! anew, its path, a token that reads it, and how many courses it has.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use catalogue_benches::{Caller, Library, Work};
use catalogue_core::Catalogue;
use catalogue_sqlite::SqliteStorage;

/// How many courses a database has that is made anew.
const COURSES: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, cache, times, database @ ..] = &*arguments else {
        return Err("usage: one_call WORK hot|cold|limited TIMES [DATABASE TOKEN COURSES]".into());
    };
    let work = Work::named(work).ok_or("there is no such work")?;
    let times: usize = times.parse()?;
    match database {
        [path, token, courses] => {
            let builder = Catalogue::with_api_keys(SqliteStorage::open(Path::new(path))?);
            let builder = if cache == "cold" { builder.page_cache(0) } else { builder };
            repeat(&Caller::new(builder, token), work, courses.parse()?, times);
        }
        _ => {
            let library = Library::with_courses(COURSES);
            let caller = match &**cache {
                "cold" => library.cold(),
                "limited" => library.limited(),
                _ => library.hot(),
            };
            repeat(&caller, work, COURSES, times);
        }
    }
    Ok(())
}

fn repeat(caller: &Caller, work: Work, courses: usize, times: usize) {
    let request = caller.request_for(work, courses);
    for _ in 0..times {
        black_box(caller.send(black_box(&request)));
    }
}
