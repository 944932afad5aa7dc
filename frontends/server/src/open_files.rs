//! Limit of this process's open files, which bounds its connections.

use std::thread;

/// Number of files open in addition to connections: standard streams, the runtime, the listener, the database.
const RESERVE: u64 = 100;
/// Number of files that a thread opens to read from the database: the database and its WAL.
const FILES_OF_A_READER: u64 = 2;

/// Raises the limit of open files as far as `requested` connections need it and the system allows. Returns how many
/// connections leave enough files for other uses.
pub(crate) fn available_connections(requested: u32) -> u32 {
    let readers = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let reserve = RESERVE + FILES_OF_A_READER * readers;
    connections_within(raised_limit(u64::from(requested) + reserve), reserve, requested)
}

/// Returns how many connections a limit leaves room for, at least one; `None` means no limit.
fn connections_within(limit: Option<u64>, reserve: u64, requested: u32) -> u32 {
    let available = limit.map_or(u64::MAX, |limit| limit.saturating_sub(reserve).max(1));
    u32::try_from(available).unwrap_or(u32::MAX).min(requested)
}

/// Returns the limit of open files, raised to `needed` as far as the hard limit allows. `None` means no limit.
#[cfg(unix)]
fn raised_limit(needed: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let before = current?;
    let raised = maximum.map_or(needed, |maximum| maximum.min(needed)).max(before);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        tracing::debug!(%error, "cannot raise the limit of open files");
        return Some(before);
    }
    Some(raised)
}

/// Returns `None`: other systems do not count sockets and files together.
#[cfg(not(unix))]
fn raised_limit(_needed: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_other_uses() {
        for (limit, connections) in
            [(None, 10_000), (Some(1 << 40), 10_000), (Some(10_100), 10_000), (Some(1_024), 924), (Some(50), 1)]
        {
            assert_eq!(connections_within(limit, 100, 10_000), connections, "{limit:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn limit_is_raised_and_never_lowered() {
        let before = raised_limit(0);
        assert_eq!(raised_limit(1), before);
        if let Some(before) = before {
            assert!(raised_limit(before + 1).is_some_and(|after| after >= before));
        }
    }
}
