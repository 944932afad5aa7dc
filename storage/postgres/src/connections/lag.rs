//! [`Samples`]: how far a replica is behind its primary, as the primary's own log tells.
//!
//! A replica that is cut off believes that nothing happens. So the primary is asked where its log ends, again and again, and
//! a replica that has replayed up to such a place has all that was committed when the primary was asked.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The block of the log that nearly every PostgreSQL is built with, and the head of each.
const BLOCK: u64 = 8192;
const BLOCK_HEAD: u64 = 24;

/// Which log it is: that of one database, on one of its timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) system: i64,
    pub(crate) timeline: u32,
}

impl Log {
    /// Whether that one was begun later, by a promotion.
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.system == other.system && self.timeline < other.timeline
    }
}

/// Where the primary's log ended, and when it was asked.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    log: Option<Log>,
    /// The oldest first.
    places: VecDeque<(Instant, u64)>,
}

impl Samples {
    /// Notes where the log ended after `asked`. Those before are kept for as long as a replica may be behind.
    pub(crate) fn note(&mut self, asked: Instant, log: Log, end: u64, keep: Duration) {
        if self.log != Some(log) {
            *self = Self { log: Some(log), places: VecDeque::new() };
        }
        let end = end_of_record(end);
        // Nothing was written in between.
        while self.places.back().is_some_and(|(_, before)| *before >= end) {
            self.places.pop_back();
        }
        self.places.push_back((asked, end));
        while self.places.front().is_some_and(|(at, _)| at.elapsed() > keep) {
            self.places.pop_front();
        }
    }

    /// When all was committed that a replica has which has come so far in that log. One that follows another server, or has
    /// what a failover lost, is on another timeline: then places say nothing, and it is as old as `before`.
    pub(crate) fn as_of(&self, before: Option<Instant>, log: Log, replayed: u64) -> Option<Instant> {
        match self.log {
            Some(own) if own == log => {
                let reached = self.places.iter().rev().find(|(_, end)| *end <= replayed);
                reached.map(|(at, _)| *at).or(before)
            }
            Some(own) if own.system != log.system => None,
            _ => before,
        }
    }
}

/// The end of the last record: a log that ends with a block is said to end behind the head of the next, where nothing is.
fn end_of_record(place: u64) -> u64 {
    if place % BLOCK == BLOCK_HEAD { place - BLOCK_HEAD } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Log = Log { system: 7, timeline: 1 };
    const KEEP: Duration = Duration::from_secs(3600);

    /// Samples of that log at those places, a second apart, the last one now.
    fn noted(samples: &mut Samples, log: Log, places: &[u64]) -> Vec<Instant> {
        let now = Instant::now();
        let times = (0..places.len() as u64).rev().map(|before| now - Duration::from_secs(before));
        let times: Vec<_> = times.collect();
        for (at, place) in times.iter().zip(places) {
            samples.note(*at, log, *place, KEEP);
        }
        times
    }

    #[test]
    fn a_replica_is_as_old_as_the_newest_place_that_it_reached() {
        let mut samples = Samples::default();
        let times = noted(&mut samples, LOG, &[100, 200, 300]);
        let mut found = None;
        for (replayed, as_of) in [(99, None), (100, Some(0)), (250, Some(1)), (300, Some(2)), (999, Some(2))] {
            found = samples.as_of(found, LOG, replayed);
            assert_eq!(found, as_of.map(|index: usize| times[index]), "{replayed}");
        }
    }

    #[test]
    fn where_nothing_is_written_a_replica_stays_new() {
        let mut samples = Samples::default();
        let times = noted(&mut samples, LOG, &[100, 100, 100]);
        assert_eq!(samples.as_of(None, LOG, 100), Some(times[2]));
        assert_eq!(samples.places.len(), 1);
        // The same place, said otherwise.
        samples.note(times[2], LOG, BLOCK + BLOCK_HEAD, KEEP);
        assert_eq!(samples.as_of(None, LOG, BLOCK), Some(times[2]));
    }

    #[test]
    fn a_replica_of_another_database_is_never_new() {
        let mut samples = Samples::default();
        let before = noted(&mut samples, LOG, &[100])[0];
        assert_eq!(samples.as_of(Some(before), Log { system: 8, ..LOG }, 999), None);
    }

    #[test]
    fn a_replica_on_another_timeline_is_as_old_as_before() {
        let mut samples = Samples::default();
        let before = noted(&mut samples, LOG, &[100])[0];
        let (lost, sound) = (samples.as_of(None, LOG, 120), samples.as_of(None, LOG, 100));
        assert_eq!([lost, sound], [Some(before); 2]);
        let next = Log { timeline: 2, ..LOG };
        let after = noted(&mut samples, next, &[110, 130]);
        // However far it goes on in the log that was left.
        for replayed in [120, 999] {
            assert_eq!(samples.as_of(lost, LOG, replayed), lost);
            assert_eq!(samples.as_of(None, LOG, replayed), None);
        }
        assert_eq!(samples.as_of(sound, next, 110), Some(after[0]));
    }
}
