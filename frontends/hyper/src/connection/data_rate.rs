//! [`DataRate`]: how well a client takes its answers.

use std::time::Duration;

use tokio::time::Instant;

/// What a client takes at least that keeps up, in bytes a second.
const SLOWEST: u32 = 1024;

/// How long a socket has kept the server waiting that takes no more of an answer, less the time that what it took would have
/// taken at the slowest speed.
#[derive(Debug, Default)]
pub(crate) struct DataRate {
    /// Since when the socket takes no more, if that is so.
    pub(super) blocked: Option<Instant>,
    debt: Duration,
}

impl DataRate {
    pub(crate) fn block(&mut self, now: Instant) {
        self.blocked.get_or_insert(now);
    }

    pub(crate) fn sent(&mut self, bytes: usize, now: Instant) {
        let waited = self.blocked.take().map_or(Duration::ZERO, |since| now.duration_since(since));
        self.debt = (self.debt + waited).saturating_sub(Duration::from_secs(bytes as u64) / SLOWEST);
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// Since when the client is behind, if the socket takes no more: as much earlier as it was behind already.
    pub(crate) fn behind_since(&self) -> Option<Instant> {
        // No debt is longer than the time before it.
        self.blocked.map(|since| since - self.debt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn clock() -> impl Fn(u64) -> Instant {
        let begin = Instant::now();
        move |seconds| begin + Duration::from_secs(seconds)
    }

    #[test]
    fn whoever_takes_nothing_is_behind_from_the_first_time_on() {
        let (later, mut rate) = (clock(), DataRate::default());
        rate.sent(100 * KIB, later(0));
        assert_eq!(rate.behind_since(), None);
        rate.block(later(1));
        rate.block(later(5));
        assert_eq!(rate.behind_since(), Some(later(1)));
    }

    #[test]
    fn whoever_takes_less_than_the_slowest_falls_ever_further_behind() {
        let (later, mut rate) = (clock(), DataRate::default());
        for seconds in (0..10).step_by(2) {
            rate.block(later(seconds));
            assert_eq!(rate.behind_since(), Some(later(seconds / 2)));
            rate.sent(KIB, later(seconds + 2));
        }
    }

    #[test]
    fn whoever_takes_more_is_behind_no_longer_than_it_takes_nothing() {
        let (later, mut rate) = (clock(), DataRate::default());
        for seconds in 0..10 {
            rate.block(later(seconds));
            assert_eq!(rate.behind_since(), Some(later(seconds)));
            rate.sent(2 * KIB, later(seconds + 1));
            assert!(!rate.is_blocked());
        }
    }

    #[test]
    fn a_debt_is_paid_by_what_is_taken_later() {
        let (later, mut rate) = (clock(), DataRate::default());
        rate.block(later(0));
        rate.sent(KIB, later(8));
        rate.sent(6 * KIB, later(9));
        rate.block(later(10));
        assert_eq!(rate.behind_since(), Some(later(9)));
        rate.sent(100 * KIB, later(20));
        rate.block(later(30));
        assert_eq!(rate.behind_since(), Some(later(30)));
    }
}
