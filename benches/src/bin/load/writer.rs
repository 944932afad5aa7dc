//! [`Writer`]: another program that changes courses while they are read, in plain SQL.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use catalogue_benches::{Data, Owner, course};
use rusqlite::{Connection, params};

/// From one commit to the next.
const PAUSE: Duration = Duration::from_millis(10);

/// Commits a change to a random account a hundred times a second, until it is told to end.
#[derive(Debug)]
pub(crate) struct Writer {
    end: Arc<AtomicBool>,
    thread: JoinHandle<rusqlite::Result<u64>>,
    begun: Instant,
}

impl Writer {
    pub(crate) fn start(data: &Data) -> rusqlite::Result<Self> {
        let connection = open(&data.path())?;
        let newest: Vec<_> = data.accounts().iter().map(newest).collect();
        let end = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&end);
        let thread = thread::spawn(move || write(&connection, &newest, &told));
        Ok(Self { end, thread, begun: Instant::now() })
    }

    /// Ends the writer and gives how many commits a second it made.
    pub(crate) fn end(self) -> rusqlite::Result<f64> {
        let time = self.begun.elapsed();
        self.end.store(true, Ordering::Relaxed);
        let commits = self.thread.join().unwrap_or(Ok(0))?;
        Ok(commits as f64 / time.as_secs_f64())
    }
}

fn open(database: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // The disk must not decide how many commits there are.
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

/// An account with the slug and title of its newest course.
fn newest(owner: &Owner) -> [String; 3] {
    let course = course(&owner.account, owner.courses - 1);
    [owner.account.to_string(), course.slug, course.title]
}

fn write(connection: &Connection, courses: &[[String; 3]], end: &AtomicBool) -> rusqlite::Result<u64> {
    let mut update = connection.prepare("UPDATE courses SET title = ?3 WHERE account_id = ?1 AND slug = ?2")?;
    let begun = Instant::now();
    let (mut commits, mut random) = (0_u64, 0x2545_f491_4f6c_dd1d_u64);
    while !end.load(Ordering::Relaxed) {
        // xorshift64.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let [account, slug, title] = &courses[(random >> 16) as usize % courses.len()];
        // As long as before, and different.
        let title = format!("{:07}{}", commits % 10_000_000, &title[7..]);
        update.execute(params![account, slug, title])?;
        commits += 1;
        let due = PAUSE.saturating_mul(u32::try_from(commits).unwrap_or(u32::MAX));
        thread::sleep(due.saturating_sub(begun.elapsed()));
    }
    Ok(commits)
}
