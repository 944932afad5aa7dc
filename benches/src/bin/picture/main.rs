//! Plots the cost of a page of fifty by depth and by the number of courses: keyset against OFFSET.
//!
//! The storage reads by keyset; OFFSET is plain SQL for the same columns on the same file. Values are the thread's processor
//! time, each the lower quartile of many samples, because other programs can only slow a sample down.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

mod svg;

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use catalogue_benches::{Failure, Figures, Library, cpu_of_this_thread, position_after};
use catalogue_core::storage::{Limit, PageRequest};
use clap::Parser;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, params};

use crate::svg::{Panel, draw, grouped};

/// Number of courses on a page.
const PAGE: usize = 50;
/// Duration of the measurement of one value, in wall-clock time.
const MEASUREMENT_TIME: Duration = Duration::from_millis(600);
/// Number of reads in one sample.
const READS_PER_SAMPLE: u32 = 8;

/// Reads the same columns in the same order as the storage.
const PAGE_BY_OFFSET: &str = "SELECT slug, title, language, published_at, created_at, hidden, module_count FROM courses \
    WHERE account_id = ?1 ORDER BY created_at DESC, slug DESC LIMIT ?2 OFFSET ?3";

/// A course of a list: slug, title, language, times of publication and creation, whether hidden, number of modules.
type Item = (String, String, String, Option<i64>, i64, bool, u32);

#[derive(Parser)]
#[command(name = "picture", about = "Draw the cost of a page of fifty by keyset and by OFFSET")]
struct Options {
    /// Output file
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Measure up to a million courses
    #[arg(long)]
    large: bool,
}

fn main() -> Result<(), Failure> {
    let Options { path, large } = Options::parse();
    // Created first, so that an error is reported immediately.
    let mut file = File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let powers = 3..=if large { 6 } else { 5 };
    let (mut by_depth, mut by_number) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    println!("| courses | depth | keyset µs | OFFSET µs |\n|--:|--:|--:|--:|");
    for power in powers.clone() {
        let library = Library::with_courses(10_usize.pow(power));
        let longest = power == *powers.end();
        let depths: Vec<_> = (2..power).map(|power| 10_usize.pow(power)).filter(|_| longest).collect();
        for depth in depths.into_iter().chain([library.deep()]) {
            let costs = both(&library, depth)?;
            println!("| {} | {depth} | {:.1} | {:.1} |", library.owner().courses, costs[0], costs[1]);
            for (way, cost) in costs.into_iter().enumerate() {
                if longest {
                    by_depth[way].push((depth as f64, cost));
                }
                if depth == library.deep() {
                    by_number[way].push((library.owner().courses as f64, cost));
                }
            }
        }
    }
    let panel = |title: String, x_label, [keyset, offset]: [Vec<(f64, f64)>; 2]| Panel {
        title,
        x_label,
        lines: [("keyset", keyset), ("OFFSET", offset)],
    };
    let longest = grouped(10_f64.powi(*powers.end() as i32));
    let by_length = "by length of the list, at 90 % of it".to_owned();
    let panels = [
        panel(format!("by depth, in a list of {longest} courses"), "courses before the page", by_depth),
        panel(by_length, "courses in the list", by_number),
    ];
    Ok(file.write_all(draw("A page of 50 courses from SQLite", "processor time in µs", &panels).as_bytes())?)
}

/// Returns the cost of the page after the newest `depth` courses by keyset and by OFFSET, in µs.
fn both(library: &Library, depth: usize) -> Result<[f64; 2], Box<dyn Error>> {
    let account = &library.owner().account;
    let limit = Limit::new(PAGE as u8).ok_or("a page of fifty")?;
    let page = PageRequest { limit, after: position_after(library.owner().courses, depth) };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(library.data.path(), flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let by_offset = || page_by_offset(&connection, account.as_str(), depth);
    // Both must return the same page.
    let slugs: Vec<_> = library.page(&page)?.into_iter().map(|item| item.slug).collect();
    let mut others = by_offset()?;
    others.truncate(PAGE);
    if !slugs.iter().eq(others.iter().map(|item| &item.0)) {
        return Err("keyset and OFFSET return different pages".into());
    }
    Ok([cost(|| drop(black_box(library.page(&page))))?, cost(|| drop(black_box(by_offset())))?])
}

/// Returns the courses after the newest `depth`, and one more than a page if the list continues.
fn page_by_offset(connection: &Connection, account: &str, depth: usize) -> rusqlite::Result<Vec<Item>> {
    let mut statement = connection.prepare_cached(PAGE_BY_OFFSET)?;
    let rows = statement.query_map(params![account, PAGE as i64 + 1, depth as i64], |row| row.try_into())?;
    rows.collect()
}

/// Returns the cost of `work` in µs: the lower quartile.
fn cost(mut work: impl FnMut()) -> Result<f64, Box<dyn Error>> {
    let mut samples = Vec::new();
    let end = Instant::now() + MEASUREMENT_TIME;
    while samples.len() < 3 || Instant::now() < end {
        let before = cpu_of_this_thread()?;
        (0..READS_PER_SAMPLE).for_each(|_| work());
        let spent = cpu_of_this_thread()?.saturating_sub(before);
        samples.push(spent.as_secs_f64() * 1e6 / f64::from(READS_PER_SAMPLE));
    }
    Ok(Figures::from_iter(samples).quantile(0.25))
}
