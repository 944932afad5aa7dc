//! [`Pace`]: whether a client takes its answers at a decent rate.

use std::time::Duration;

use tokio::time::Instant;

/// What each answer asks for that goes out: 1 KB a second, which the slowest links have.
const BYTES_A_MILLISECOND: i64 = 1;

/// How many bytes beyond that count for the time when none goes out: those of the largest frame, which a slow link needs
/// time for.
const MOST: i64 = 16 * 1024;

/// The bytes that go out on a connection, against those that its answers ask for.
///
/// All answers of a connection have one account, since the window of the connection is given to one after the other:
/// those that have none of it would seem not to move however fast the client is.
#[derive(Debug)]
pub(super) struct Pace {
    /// Answers that go out.
    answers: i64,
    /// Bytes beyond what they ask for; less than none where the client is behind.
    ahead: i64,
    /// When that was so.
    at: Instant,
}

impl Pace {
    /// That of a connection that begins.
    pub(super) fn new(now: Instant) -> Self {
        Self { answers: 0, ahead: 0, at: now }
    }

    /// An answer begins to go out.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.answers == 0 {
            (self.ahead, self.at) = (0, now);
        }
        self.settle(now);
        self.answers += 1;
    }

    /// An answer that went out is over, at its end or before.
    pub(super) fn end(&mut self, now: Instant) {
        self.settle(now);
        if self.ahead < 0 {
            self.ahead -= self.ahead / self.answers.max(1);
        }
        self.answers = (self.answers - 1).max(0);
    }

    /// So many bytes of answers go out.
    pub(super) fn sent(&mut self, bytes: u32, now: Instant) {
        self.settle(now);
        self.ahead = (self.ahead + i64::from(bytes)).min(MOST);
    }

    /// Up to when enough has gone out, where any answer does: a time in the past where the client is behind.
    pub(super) fn paid_until(&self) -> Option<Instant> {
        let milliseconds = self.ahead.checked_div(self.answers * BYTES_A_MILLISECOND)?;
        let time = Duration::from_millis(milliseconds.unsigned_abs());
        if milliseconds < 0 { self.at.checked_sub(time) } else { self.at.checked_add(time) }
    }

    /// Takes off what was asked for until now, in whole milliseconds.
    fn settle(&mut self, now: Instant) {
        let milliseconds = now.saturating_duration_since(self.at).as_millis();
        let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX);
        self.ahead -= i64::from(milliseconds) * self.answers * BYTES_A_MILLISECOND;
        self.at += Duration::from_millis(milliseconds.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn each_answer_asks_for_its_bytes() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        assert_eq!(pace.paid_until(), None);
        pace.begin(now);
        assert_eq!(pace.paid_until(), Some(now));
        pace.sent(300, now + 100 * MILLISECOND);
        assert_eq!(pace.paid_until(), Some(now + 300 * MILLISECOND));
        pace.begin(now + 100 * MILLISECOND);
        assert_eq!(pace.paid_until(), Some(now + 200 * MILLISECOND));
        pace.end(now + 200 * MILLISECOND);
        pace.end(now + 200 * MILLISECOND);
        assert_eq!(pace.paid_until(), None);
    }

    #[test]
    fn bytes_now_and_then_are_not_enough() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        (0..100).for_each(|_| pace.begin(begin));
        let mut now = begin;
        for _ in 0..100 {
            now += 40 * MILLISECOND;
            (0..100).for_each(|_| pace.sent(1, now));
        }
        assert_eq!(pace.paid_until(), Some(begin + 100 * MILLISECOND));
    }

    #[test]
    fn a_window_now_and_then_is() {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        pace.begin(now);
        for _ in 0..100 {
            pace.sent(16 * 1024, now);
            now += 200 * MILLISECOND;
            assert!(pace.paid_until() > Some(now));
        }
    }

    #[test]
    fn no_more_is_paid_in_advance_than_a_frame() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.begin(now);
        pace.sent(u32::MAX, now);
        assert_eq!(pace.paid_until(), Some(now + 16_384 * MILLISECOND));
    }

    #[test]
    fn an_answer_takes_its_debt_along() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        (0..100).for_each(|_| pace.begin(now));
        let later = now + 500 * MILLISECOND;
        (0..99).for_each(|_| pace.end(later));
        assert_eq!(pace.paid_until(), Some(now));
        pace.end(later);
        pace.begin(later);
        assert_eq!(pace.paid_until(), Some(later));
    }
}
