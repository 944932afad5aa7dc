//! Changes courses in plain SQL while they are read, like another program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use catalogue_benches::{Data, Owner, course};
use rusqlite::{Connection, params};

/// Delay between commits.
const COMMIT_INTERVAL: Duration = Duration::from_millis(10);

/// Runs `measured` while a hundred changes a second are committed, each to the newest course of another account. Also
/// returns the commits per second.
pub(crate) fn under_commits<T>(data: &Data, measured: impl FnOnce() -> T) -> rusqlite::Result<(T, f64)> {
    let connection = Connection::open(data.path())?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Turn off fsync, so disk speed does not limit the commit rate.
    connection.pragma_update(None, "synchronous", "off")?;
    // The first account stays unchanged, so that its ETag, which the requests of `hot 304` send, stays valid.
    let newest: Vec<_> = data.accounts().iter().skip(1).map(newest).collect();
    let (newest, stop, started) = (&newest, &AtomicBool::new(false), Instant::now());
    thread::scope(|scope| {
        let writer = scope.spawn(move || write(&connection, newest, stop));
        let result = measured();
        let time = started.elapsed();
        stop.store(true, Ordering::Relaxed);
        let commits = writer.join().unwrap_or(Ok(0))?;
        Ok((result, commits as f64 / time.as_secs_f64()))
    })
}

/// Returns the account's id, and slug and title of its newest course.
fn newest(owner: &Owner) -> [String; 3] {
    let course = course(&owner.account, owner.courses - 1);
    [owner.account.to_string(), course.slug, course.title]
}

fn write(connection: &Connection, courses: &[[String; 3]], stop: &AtomicBool) -> rusqlite::Result<u64> {
    let mut update = connection.prepare("UPDATE courses SET title = ?3 WHERE account_id = ?1 AND slug = ?2")?;
    let started = Instant::now();
    let mut commits = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        // The stride spreads consecutive writes over the file.
        let [account, slug, title] = &courses[commits as usize * 7_919 % courses.len()];
        // Another text of the same length.
        let title = format!("{:07}{}", commits % 10_000_000, &title[7..]);
        update.execute(params![account, slug, title])?;
        commits += 1;
        let due = COMMIT_INTERVAL.saturating_mul(u32::try_from(commits).unwrap_or(u32::MAX));
        thread::sleep(due.saturating_sub(started.elapsed()));
    }
    Ok(commits)
}
