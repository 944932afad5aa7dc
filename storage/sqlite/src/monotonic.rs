//! The clock that nobody sets, as a number that can be shared without a lock.

use std::sync::LazyLock;
use std::time::Instant;

/// Nanoseconds since this process asked first.
pub(crate) fn nanos() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    START.elapsed().as_nanos() as u64
}
