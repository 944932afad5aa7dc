//! Checks whether this machine's clock can be right: expiries of keys and certificates depend on it.

use crate::report::Report;
use std::time::{Duration, SystemTime};
use std::{env, fs};

/// Maximum offset between two clocks. Synchronized clocks differ by much less.
const MAX_OFFSET: Duration = Duration::from_secs(5);

const CHECK: &str = "clock";

/// Reports an error if `now` is before the program was written to this machine's disk.
pub(super) fn check(now: SystemTime, report: &mut Report) {
    let written = env::current_exe().and_then(fs::metadata).and_then(|metadata| metadata.modified());
    if written.is_ok_and(|written| now < written) {
        report.error(CHECK, "is earlier than the date of the program's file; set the system clock (timedatectl)");
    } else {
        report.ok(CHECK, "is plausible");
    }
}

/// Compares with the database's clock, which showed `theirs` (in microseconds) at some time from `before` to `after`.
pub(super) fn compare(before: i64, theirs: i64, after: i64, report: &mut Report) {
    let offset = Duration::from_micros((before - theirs).max(theirs - after).max(0).unsigned_abs());
    if offset > MAX_OFFSET {
        let seconds = offset.as_secs();
        report.warning(CHECK, format!("is {seconds} seconds off the database's; synchronize both with a time server"));
    } else {
        report.ok(CHECK, "agrees with the database's");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    #[test]
    fn clock_at_unix_epoch_is_error() {
        let mut report = Report::default();
        check(SystemTime::now(), &mut report);
        check(SystemTime::UNIX_EPOCH, &mut report);
        assert_eq!(report.verdicts(), [Verdict::Ok, Verdict::Error]);
    }

    #[test]
    fn small_clock_difference_to_database_is_accepted() {
        let mut report = Report::default();
        for theirs in [1_000_000_000, 1_000_000_900, 1_004_000_000, 996_000_000, 1_007_000_000, 993_000_000] {
            compare(1_000_000_000, theirs, 1_001_000_000, &mut report);
        }
        let (fine, off) = (Verdict::Ok, Verdict::Warning);
        assert_eq!(report.verdicts(), [fine, fine, fine, fine, off, off]);
    }
}
