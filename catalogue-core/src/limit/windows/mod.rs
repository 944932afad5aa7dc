//! [`Windows`]: counts of each key's current window, in bounded memory.

use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::limiter::Acquired;
use super::rate_limit::RateLimit;

/// Number of buckets; with [`SLOTS_PER_BUCKET`] keys in each, half a million keys in at most 17 MiB.
pub(super) const BUCKETS: usize = 1 << 15;
const SLOTS_PER_BUCKET: usize = 16;

/// Windows of many keys. Times are nanoseconds since a moment that the caller chooses.
///
/// A key belongs to one bucket. An expired window frees its slot. If a bucket is full of windows that have not expired,
/// the one with the fewest requests is evicted, and among several the one that ends first. So a client that wants a
/// used-up allowance back early must use up the fifteen others in its bucket first, and no client can choose the bucket.
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
    count: u32,
}

impl Windows {
    pub(super) fn new(limit: RateLimit, buckets: usize) -> Self {
        let length = limit.window().as_secs() * 1_000_000_000;
        Self { requests: limit.requests(), length, buckets: (0..buckets).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn acquire(&self, key: Fingerprint, now: u64) -> Acquired {
        let mut bucket = self.bucket(key);
        let window = match bucket.iter().position(|window| window.key == key) {
            Some(at) => &mut bucket[at],
            None => free_slot(&mut bucket, now),
        };
        if window.key != key || window.end <= now {
            *window = Window { key, end: now + self.length, count: 0 };
        }
        let resets_in = Duration::from_nanos(window.end - now);
        if window.count >= self.requests {
            return Acquired::Limited { resets_in };
        }
        window.count += 1;
        Acquired::Granted { remaining: self.requests - window.count, resets_in, window: window.end }
    }

    /// Refunds one request to the window of `key` that ends at `end`, if it exists. No other window of `key` ends then.
    pub(super) fn refund(&self, key: Fingerprint, end: u64) {
        if let Some(window) = self.bucket(key).iter_mut().find(|window| window.key == key && window.end == end) {
            window.count = window.count.saturating_sub(1);
            if window.count == 0 {
                // As if it had never begun: a refunded request must not decide when the next window ends.
                window.end = 0;
            }
        }
    }

    fn bucket(&self, key: Fingerprint) -> MutexGuard<'_, Vec<Window>> {
        // A poisoned bucket is usable: it is consistent between any two statements that change it.
        self.buckets[key as usize % self.buckets.len()].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn free_slot(bucket: &mut Vec<Window>, now: u64) -> &mut Window {
    let eviction_order = |window: &Window| if window.end <= now { (0, 0) } else { (window.count, window.end) };
    let candidate = bucket.iter().enumerate().min_by_key(|(_, window)| eviction_order(window));
    match candidate.map(|(at, window)| (at, window.end <= now)) {
        Some((at, is_expired)) if is_expired || bucket.len() == SLOTS_PER_BUCKET => &mut bucket[at],
        _ => {
            bucket.push(Window { key: 0, end: 0, count: 0 });
            bucket.last_mut().expect("an entry was just inserted")
        }
    }
}

/// 128 bits that represent a value in this process. The hash keys are secret, so no client can choose its bits or bucket.
pub(super) type Fingerprint = u128;

/// Generator of fingerprints, with its own random keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    pub(super) fn of(&self, value: impl Hash) -> Fingerprint {
        let [high, low] = &self.0;
        Fingerprint::from(high.hash_one(&value)) << 64 | Fingerprint::from(low.hash_one(&value))
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
