//! [`Windows`]: what each key has taken in its window, in bounded room.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::limiter::Taken;
use super::rate_limit::RateLimit;

/// How many buckets there are, and how many keys each has room for: half a million keys in 17 MiB at most.
pub(super) const BUCKETS: usize = 1 << 15;
const SLOTS: usize = 16;

/// The windows of many keys. Times are nanoseconds from a moment of the caller's choice.
///
/// A key belongs to one bucket. A window that is over leaves its slot free. Where a bucket is full of windows that are not,
/// the one of which least was taken gives way, and of several the one that ends first. So to have an allowance that is used
/// up back before its time costs sixteen, used up in a bucket that nobody can choose.
#[derive(Debug)]
pub(super) struct Windows {
    requests: u32,
    length: u64,
    buckets: Box<[Mutex<Vec<Window>>]>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    key: Fingerprint,
    end: u64,
    taken: u32,
}

impl Windows {
    pub(super) fn new(limit: RateLimit, buckets: usize) -> Self {
        let length = limit.window().as_secs() * 1_000_000_000;
        Self { requests: limit.requests(), length, buckets: (0..buckets).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn take(&self, key: Fingerprint, now: u64) -> Taken {
        let mut bucket = self.bucket(key);
        let window = match bucket.iter().position(|window| window.key == key) {
            Some(at) => &mut bucket[at],
            None => free_place(&mut bucket, now),
        };
        if window.key != key || window.end <= now {
            *window = Window { key, end: now + self.length, taken: 0 };
        }
        let resets_in = Duration::from_nanos(window.end - now);
        if window.taken >= self.requests {
            return Taken::Refused { resets_in };
        }
        window.taken += 1;
        Taken::Granted { remaining: self.requests - window.taken, resets_in, window: window.end }
    }

    /// Gives one back to the window that ends then, if it is still the key's: none that counts another ends then too.
    pub(super) fn give_back(&self, key: Fingerprint, end: u64) {
        if let Some(window) = self.bucket(key).iter_mut().find(|window| window.key == key && window.end == end) {
            window.taken = window.taken.saturating_sub(1);
            if window.taken == 0 {
                // As if it had never begun: what cost nothing does not decide when the next window ends either.
                window.end = 0;
            }
        }
    }

    fn bucket(&self, key: Fingerprint) -> MutexGuard<'_, Vec<Window>> {
        // What is in a bucket is right between any two statements that change it.
        self.buckets[key as usize % self.buckets.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot for a further key.
fn free_place(bucket: &mut Vec<Window>, now: u64) -> &mut Window {
    let given_up = |window: &Window| if window.end <= now { (0, 0) } else { (window.taken, window.end) };
    let least = bucket.iter().enumerate().min_by_key(|(_, window)| given_up(window));
    match least.map(|(at, window)| (at, window.end <= now)) {
        Some((at, is_over)) if is_over || bucket.len() == SLOTS => &mut bucket[at],
        _ => {
            bucket.push(Window { key: 0, end: 0, taken: 0 });
            bucket.last_mut().expect("one was just put in")
        }
    }
}

/// 128 bits that stand for a value in this process. Nobody knows the keys, so nobody chooses a value's bits or place.
pub(super) type Fingerprint = u128;

/// Makes fingerprints, with random keys of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: impl Hash) -> Fingerprint {
        let [high, low] = &self.0;
        Fingerprint::from(high.hash_one(&value)) << 64 | Fingerprint::from(low.hash_one(&value))
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
