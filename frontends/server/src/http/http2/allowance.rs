//! [`Allowance`]: how many frames a client may send that no answer comes of.

use std::time::Duration;

use tokio::time::Instant;

/// What a client has at the beginning, and at most: a hundred streams with ten frames each. A connection costs a
/// handshake, which is worth about as much, so that to begin anew gains nothing.
const MOST: u32 = 1_024;

/// What an answer brings. Clients send a priority or a larger window with a request; none sends as many frames.
const ANSWER: u32 = 8;

/// How many bytes of ours bring a frame. Clients open the window after 16 KiB or more, few after 4 KiB, on the stream
/// and on the connection. Less would pay those who let every byte be sent alone.
const BYTES: usize = 1_024;

/// The time that brings a frame, for the PING of clients that say nothing else.
const TIME: Duration = Duration::from_millis(100);

/// What a request costs that one of the sides has reset, beside its frames: the work on it is lost.
const RESET: u32 = 2;

/// Every frame of the client costs one, whatever it is: hyper counts some kinds of those that cost more than they
/// bring, and lets any number of others pass. What the client has asked for and was sent pays for them.
#[derive(Debug)]
pub(super) struct Allowance {
    left: u32,
    /// Bytes that have not brought a frame yet.
    bytes: usize,
    /// Up to when time was paid for.
    since: Instant,
    /// When it was not enough.
    overdrawn: Option<Instant>,
}

impl Allowance {
    /// That of a connection that begins.
    pub(super) fn new(now: Instant) -> Self {
        Self { left: MOST, bytes: 0, since: now, overdrawn: None }
    }

    /// The client has sent a frame.
    pub(super) fn frame(&mut self, now: Instant) {
        self.spend(1, now);
    }

    /// A request was reset before its answer was out.
    pub(super) fn reset(&mut self, now: Instant) {
        self.spend(RESET, now);
    }

    /// An answer is out.
    pub(super) fn answered(&mut self) {
        self.earn(ANSWER);
    }

    /// So many bytes went out.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.earn(u32::try_from(self.bytes / BYTES).unwrap_or(MOST));
        self.bytes %= BYTES;
    }

    /// When the client has sent more than it may, if it ever has.
    pub(super) fn overdrawn(&self) -> Option<Instant> {
        self.overdrawn
    }

    fn spend(&mut self, frames: u32, now: Instant) {
        if self.left < frames {
            let ticks = now.saturating_duration_since(self.since).as_millis() / TIME.as_millis();
            self.since = now;
            self.earn(u32::try_from(ticks).unwrap_or(MOST));
        }
        match self.left.checked_sub(frames) {
            Some(left) => self.left = left,
            None => self.overdrawn = Some(now),
        }
    }

    fn earn(&mut self, frames: u32) {
        self.left = self.left.saturating_add(frames).min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many frames more may be sent at this moment.
    fn left(mut allowance: Allowance, now: Instant) -> u32 {
        let sent = (0..=MOST).take_while(|_| {
            allowance.frame(now);
            allowance.overdrawn().is_none()
        });
        u32::try_from(sent.count()).unwrap()
    }

    /// One of which nothing is left.
    fn empty(now: Instant) -> Allowance {
        let mut allowance = Allowance::new(now);
        (0..MOST).for_each(|_| allowance.frame(now));
        allowance
    }

    #[test]
    fn it_is_used_up_and_stays_so() {
        let now = Instant::now();
        assert_eq!(left(Allowance::new(now), now), MOST);
        let mut allowance = empty(now);
        assert_eq!(allowance.overdrawn(), None);
        allowance.frame(now);
        allowance.answered();
        assert_eq!(allowance.overdrawn(), Some(now));
    }

    #[test]
    fn answers_bytes_and_time_bring_it_back() {
        let now = Instant::now();
        let mut answered = empty(now);
        answered.answered();
        assert_eq!(left(answered, now), ANSWER);
        let mut sent = empty(now);
        (0..10 * BYTES).for_each(|_| sent.sent(1));
        assert_eq!(left(sent, now), 10);
        assert_eq!(left(empty(now), now + 5 * TIME), 5);
    }

    #[test]
    fn there_is_never_more_than_at_the_beginning() {
        let now = Instant::now();
        let mut allowance = Allowance::new(now);
        allowance.answered();
        allowance.sent(usize::MAX / 2);
        assert_eq!(left(allowance, now), MOST);
        assert_eq!(left(empty(now), now + 10 * MOST * TIME), MOST);
    }

    #[test]
    fn a_reset_costs_more_than_its_frame() {
        let now = Instant::now();
        let mut allowance = Allowance::new(now);
        allowance.reset(now);
        assert_eq!(left(allowance, now), MOST - RESET);
    }
}
