//! `catalogue backup`

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use indicatif::HumanBytes;
use serde_json::json;
use tokio::task::spawn_blocking;

use super::signals::Signals;
use super::{Context, block_on, progress};
use crate::cli::BackupArguments;
use crate::exit::{Failure, sanitized};
use crate::output;

pub(super) fn run(arguments: &BackupArguments, context: &Context) -> Result<(), Failure> {
    let began = Instant::now();
    let database = context.database()?;
    let (source, target) = (database.clone(), arguments.file.clone());
    let name = arguments.file.display().to_string();
    let bytes = block_on(async {
        let mut signals = Signals::catch_with_hangup()?;
        let bar = progress::begin("copying", Some(0));
        let interrupted = Arc::new(AtomicBool::new(false));
        let (progress_bar, is_interrupted) = (bar.clone(), Arc::clone(&interrupted));
        let mut copying = spawn_blocking(move || {
            source.copy(&target, &mut |done, of| {
                progress_bar.set_length(of);
                progress_bar.set_position(done);
                if is_interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        let (made, status) = tokio::select! {
            made = &mut copying => (made, 0),
            status = signals.next() => {
                interrupted.store(true, Ordering::Relaxed);
                (copying.await, status)
            }
        };
        bar.finish_and_clear();
        let made = made.unwrap_or_else(|error| resume_unwind(error.into_panic()))?;
        made.ok_or_else(|| Failure::interrupted(status, "no copy was made"))
    })?;
    let (database, seconds) = (database.to_string(), began.elapsed().as_secs_f64());
    let printed = if arguments.json {
        let seconds = (seconds * 1_000.0).round() / 1_000.0;
        output::print_json(&json!({ "database": database, "file": name, "bytes": bytes, "seconds": seconds }))
    } else {
        let copy = sanitized(&name);
        output::print(&format!("{database} was copied to {copy}: {} in {seconds:.1} s", HumanBytes(bytes)))
    };
    printed.map_err(|failure| failure.after("the copy was made"))
}
