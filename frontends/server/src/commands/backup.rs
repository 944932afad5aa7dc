//! `catalogue backup`: a copy that is whole, or not there.

use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use catalogue_sqlite::SqliteStorage;
use indicatif::HumanBytes;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::signals::Signals;
use super::{Context, block_on};
use crate::cli::BackupArguments;
use crate::database::Database;
use crate::exit::{Failure, chain, harmless};
use crate::import::Progress;
use crate::output;

const THERE: &str = "is there already; name a file that is not";

pub(super) fn run(arguments: &BackupArguments, context: &Context) -> Result<(), Failure> {
    let began = Instant::now();
    let database = context.database()?;
    let copy = Copy {
        source: file_of(&database)?,
        target: arguments.file.clone(),
        progress: Progress::of("copying", Some(0)),
        interrupted: Arc::default(),
    };
    let (progress, interrupted) = (copy.progress.clone(), Arc::clone(&copy.interrupted));
    let name = arguments.file.display().to_string();
    let bytes = block_on(async {
        let mut signals = Signals::catch()?;
        let mut copying = spawn_blocking(move || copy.make());
        let (made, status) = tokio::select! {
            made = &mut copying => (made, 0),
            status = signals.next() => {
                interrupted.store(true, Ordering::Relaxed);
                (copying.await, status)
            }
        };
        progress.clear();
        let made = made.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        let made = made.map_err(|why| Failure::work(format!("{name}: {why}")))?;
        made.ok_or_else(|| Failure::interrupted(status, "no copy was made"))
    })?;
    let (database, seconds) = (database.to_string(), began.elapsed().as_secs_f64());
    let printed = if arguments.json {
        let seconds = (seconds * 1_000.0).round() / 1_000.0;
        output::print_json(&json!({ "database": database, "file": name, "bytes": bytes, "seconds": seconds }))
    } else {
        output::print(&format!("{database} was copied to {}: {} in {seconds:.1} s", harmless(&name), HumanBytes(bytes)))
    };
    printed.map_err(|failure| failure.after("the copy was made"))
}

/// Where SQLite keeps the database.
fn file_of(database: &Database) -> Result<PathBuf, Failure> {
    match database {
        Database::File(path) => Ok(path.clone()),
        Database::Memory => Err(Failure::usage(format!(
            "{database} ends with this command, so there is nothing to copy; name a file, like sqlite:catalogue.db"
        ))),
        Database::Postgres(_) => Err(Failure::usage(format!(
            "{database} is PostgreSQL's, which has its own way: pg_dump --format=custom --file=FILE ADDRESS"
        ))),
    }
}

/// A copy to be made.
struct Copy {
    source: PathBuf,
    target: PathBuf,
    progress: Progress,
    /// Whether it is to end without a copy.
    interrupted: Arc<AtomicBool>,
}

impl Copy {
    /// Makes it, and says how long it is; `None` where it was interrupted before. Then, and after an error, nothing is left.
    fn make(self) -> Result<Option<u64>, String> {
        let Self { source, target, progress, interrupted } = self;
        if fs::symlink_metadata(&target).is_ok() {
            return Err(THERE.to_owned());
        }
        let directory = target.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        if !directory.is_dir() {
            return Err("its directory does not exist; make it first".to_owned());
        }
        let failed = |error: io::Error| format!("cannot be written: {error}");
        let partial = tempfile::Builder::new().prefix(".catalogue-").suffix(".partial").tempfile_in(directory);
        // Closed before SQLite opens it: to close it later would drop SQLite's locks.
        let partial = partial.map_err(failed)?.into_temp_path();
        let copied = SqliteStorage::back_up(&source, &partial, &mut |done, of| {
            progress.set(done, of);
            if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if copied.map_err(|error| format!("no copy was made: {}", chain(&error)))?.is_break() {
            return Ok(None);
        }
        let bytes = finished(&partial, &source).map_err(failed)?;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        partial.persist_noclobber(&target).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => THERE.to_owned(),
            _ => failed(error.error),
        })?;
        #[cfg(unix)]
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| {
            format!("is whole, but may be lost if the machine stops: its directory cannot be synced: {error}")
        })?;
        Ok(Some(bytes))
    }
}

/// Gives the copy the mode of the original, and waits until the disk has it.
fn finished(copy: &Path, source: &Path) -> io::Result<u64> {
    let file = File::options().read(true).write(true).open(copy)?;
    file.set_permissions(fs::metadata(source)?.permissions())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
