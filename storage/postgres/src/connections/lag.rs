//! [`Samples`]: computes a replica's lag from samples of its primary's log position.
//!
//! A replica that is cut off cannot know that it lags. So the primary's end of log is sampled at intervals, and a replica that
//! has replayed up to a sample has everything that was committed when the sample was taken.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Block size of the log in nearly every PostgreSQL build, and the size of a block's header.
const BLOCK: u64 = 8192;
const BLOCK_HEAD: u64 = 24;

/// Identifies a log: the database system and its timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) system: i64,
    pub(crate) timeline: u32,
}

impl Log {
    /// Returns `true` if `other` is a later timeline of the same database, begun by a promotion.
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.system == other.system && self.timeline < other.timeline
    }
}

/// Positions of the primary's end of log, with the times of the queries.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    log: Option<Log>,
    /// Times and positions, oldest first.
    positions: VecDeque<(Instant, u64)>,
}

impl Samples {
    /// Records the log's end as a query begun at `queried_at` found it. Samples are retained for `retention`, the maximum lag.
    pub(crate) fn record(&mut self, queried_at: Instant, log: Log, end: u64, retention: Duration) {
        if self.log != Some(log) {
            *self = Self { log: Some(log), positions: VecDeque::new() };
        }
        let end = end_of_record(end);
        // Nothing was written since these samples.
        while self.positions.back().is_some_and(|(_, before)| *before >= end) {
            self.positions.pop_back();
        }
        self.positions.push_back((queried_at, end));
        while self.positions.front().is_some_and(|(at, _)| at.elapsed() > retention) {
            self.positions.pop_front();
        }
    }

    /// Returns the time as of which a replica that has replayed `log` up to `replayed` is complete; `None` if it replicates
    /// another database. Returns `before`, the previous result, if it has reached no sample or is on another timeline.
    pub(crate) fn as_of(&self, before: Option<Instant>, log: Log, replayed: u64) -> Option<Instant> {
        match self.log {
            Some(primary) if primary == log => {
                let reached = self.positions.iter().rev().find(|(_, end)| *end <= replayed);
                reached.map(|(at, _)| *at).or(before)
            }
            Some(primary) if primary.system != log.system => None,
            _ => before, // Positions of different timelines are not comparable.
        }
    }
}

/// Returns the end of the last record: if that ends a block, PostgreSQL reports the position after the next block's header.
fn end_of_record(position: u64) -> u64 {
    if position % BLOCK == BLOCK_HEAD { position - BLOCK_HEAD } else { position }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Log = Log { system: 7, timeline: 1 };
    const RETENTION: Duration = Duration::from_secs(3600);

    /// Adds samples of `log` at `positions`, one second apart, the last one now; returns their times.
    fn recorded(samples: &mut Samples, log: Log, positions: &[u64]) -> Vec<Instant> {
        let now = Instant::now();
        let times = (0..positions.len() as u64).rev().map(|before| now - Duration::from_secs(before));
        let times: Vec<_> = times.collect();
        for (at, position) in times.iter().zip(positions) {
            samples.record(*at, log, *position, RETENTION);
        }
        times
    }

    #[test]
    fn replica_age_is_that_of_last_reached_position() {
        let mut samples = Samples::default();
        let times = recorded(&mut samples, LOG, &[100, 200, 300]);
        let mut found = None;
        for (replayed, as_of) in [(99, None), (100, Some(0)), (250, Some(1)), (300, Some(2)), (999, Some(2))] {
            found = samples.as_of(found, LOG, replayed);
            assert_eq!(found, as_of.map(|index: usize| times[index]), "{replayed}");
        }
    }

    #[test]
    fn replica_of_idle_primary_stays_current() {
        let mut samples = Samples::default();
        let times = recorded(&mut samples, LOG, &[100, 100, 100]);
        assert_eq!(samples.as_of(None, LOG, 100), Some(times[2]));
        assert_eq!(samples.positions.len(), 1);
        // The same position, reported as the start of the next block's data.
        samples.record(times[2], LOG, BLOCK + BLOCK_HEAD, RETENTION);
        assert_eq!(samples.as_of(None, LOG, BLOCK), Some(times[2]));
    }

    #[test]
    fn replica_of_other_database_is_never_current() {
        let mut samples = Samples::default();
        let before = recorded(&mut samples, LOG, &[100])[0];
        assert_eq!(samples.as_of(Some(before), Log { system: 8, ..LOG }, 999), None);
    }

    #[test]
    fn replica_on_old_timeline_keeps_its_age() {
        let mut samples = Samples::default();
        let before = recorded(&mut samples, LOG, &[100])[0];
        let (lost, intact) = (samples.as_of(None, LOG, 120), samples.as_of(None, LOG, 100));
        assert_eq!([lost, intact], [Some(before); 2]);
        let next = Log { timeline: 2, ..LOG };
        let after = recorded(&mut samples, next, &[110, 130]);
        // Progress on the abandoned timeline changes nothing.
        for replayed in [120, 999] {
            assert_eq!(samples.as_of(lost, LOG, replayed), lost);
            assert_eq!(samples.as_of(None, LOG, replayed), None);
        }
        assert_eq!(samples.as_of(intact, next, 110), Some(after[0]));
    }
}
