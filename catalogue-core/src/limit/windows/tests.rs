//! Capacity of the windows, and eviction.

use super::*;

fn windows(requests: u32, seconds: u64) -> Windows {
    Windows::new(RateLimit::new(requests, Duration::from_secs(seconds)).unwrap(), BUCKETS)
}

fn is_granted(acquired: Acquired) -> bool {
    matches!(acquired, Acquired::Granted { .. })
}

/// Returns the bytes that are allocated for all windows.
fn bytes(windows: &Windows) -> usize {
    let windows = windows.buckets.iter().map(|bucket| bucket.lock().unwrap().capacity()).sum::<usize>();
    windows * size_of::<Window>() + BUCKETS * size_of::<Mutex<Vec<Window>>>()
}

#[test]
fn million_addresses_fit_without_evicting_exhausted_ones() {
    let (windows, keys) = (windows(3, 60), Fingerprints::default());
    let exhausted = |number: u32| keys.of(("exhausted", number));
    for number in 0..100 {
        assert_eq!([(); 4].map(|()| is_granted(windows.acquire(exhausted(number), 0))), [true, true, true, false]);
    }
    for number in 0..1_000_000_u32 {
        assert!(is_granted(windows.acquire(keys.of(number), 1)));
    }
    assert!(bytes(&windows) <= 17 << 20, "{}", bytes(&windows));
    assert!(bytes(&windows) > 16 << 20, "the capacity is used");
    for number in 0..100 {
        assert!(!is_granted(windows.acquire(exhausted(number), 2)), "{number}");
    }
}

#[test]
fn fingerprint_uses_128_bits() {
    let fingerprint = Fingerprints::default().of("value");
    let (high, low) = (fingerprint >> 64, fingerprint & u128::from(u64::MAX));
    assert!(high != 0 && low != 0 && high != low, "{fingerprint:x}");
}

#[test]
fn full_bucket_evicts_window_with_fewest_grants() {
    let windows = windows(5, 1);
    let key = |number: usize| (number * BUCKETS) as Fingerprint;
    for number in 1..=SLOTS_PER_BUCKET {
        for _ in 0..if number == 7 { 1 } else { 2 } {
            windows.acquire(key(number), number as u64);
        }
    }
    windows.acquire(key(99), 100);
    let bucket = windows.bucket(0).clone();
    assert_eq!(bucket.len(), SLOTS_PER_BUCKET);
    assert!(bucket.iter().any(|window| window.key == key(99)) && bucket.iter().all(|window| window.key != key(7)));
}

#[test]
fn expired_window_is_evicted_first() {
    let windows = windows(1, 1);
    let key = |number: usize| (number * BUCKETS) as Fingerprint;
    windows.acquire(key(1), 0);
    windows.acquire(key(2), 999_999_999);
    windows.acquire(key(3), 1_000_000_000);
    assert_eq!(windows.bucket(0).len(), 2);
    assert!(!is_granted(windows.acquire(key(2), 1_000_000_001)));
}
