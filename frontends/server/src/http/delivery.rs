//! [`Delivery`]: how well a client takes its answers.

use std::time::Duration;

use tokio::time::Instant;

/// What a client takes at least that keeps up, in bytes a second.
const SLOWEST: u32 = 1024;

/// How long a socket has kept the server waiting that takes no more of an answer.
///
/// A client that takes a little now and then does not begin anew with every byte: what it takes makes up for so much of
/// the wait as it would have taken at the slowest speed, and the rest is added to its next wait.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    blocked: Option<Instant>,
    debt: Duration,
}

impl Delivery {
    /// The socket took nothing.
    pub(super) fn block(&mut self, now: Instant) {
        self.blocked.get_or_insert(now);
    }

    /// The socket took `bytes`.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) {
        let waited = self.blocked.take().map_or(Duration::ZERO, |since| now.duration_since(since));
        self.debt = (self.debt + waited).saturating_sub(Duration::from_secs(bytes as u64) / SLOWEST);
    }

    /// Whether the socket takes no more.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// Since when the client is behind, if the socket takes no more: since then, or as much earlier as it was behind
    /// already.
    pub(super) fn behind_since(&self) -> Option<Instant> {
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
        let (later, mut delivery) = (clock(), Delivery::default());
        delivery.take(100 * KIB, later(0));
        assert_eq!(delivery.behind_since(), None);
        delivery.block(later(1));
        delivery.block(later(5));
        assert_eq!(delivery.behind_since(), Some(later(1)));
    }

    #[test]
    fn whoever_takes_less_than_the_slowest_falls_ever_further_behind() {
        let (later, mut delivery) = (clock(), Delivery::default());
        for seconds in (0..10).step_by(2) {
            delivery.block(later(seconds));
            assert_eq!(delivery.behind_since(), Some(later(seconds / 2)));
            delivery.take(KIB, later(seconds + 2));
        }
    }

    #[test]
    fn whoever_takes_more_is_behind_no_longer_than_it_takes_nothing() {
        let (later, mut delivery) = (clock(), Delivery::default());
        for seconds in 0..10 {
            delivery.block(later(seconds));
            assert_eq!(delivery.behind_since(), Some(later(seconds)));
            delivery.take(2 * KIB, later(seconds + 1));
            assert!(!delivery.is_blocked());
        }
    }

    #[test]
    fn a_debt_is_paid_by_what_is_taken_later() {
        let (later, mut delivery) = (clock(), Delivery::default());
        delivery.block(later(0));
        delivery.take(KIB, later(8));
        delivery.take(6 * KIB, later(9));
        delivery.block(later(10));
        assert_eq!(delivery.behind_since(), Some(later(9)));
        delivery.take(100 * KIB, later(20));
        delivery.block(later(30));
        assert_eq!(delivery.behind_since(), Some(later(30)));
    }
}
