//! Locks, atomics and a cache that replace those of `std` and `quick_cache` in unit tests. Within [`explore`], shuttle
//! lets a random thread continue at each use of them. Elsewhere they behave like the originals.
//!
//! Shuttle's own types work only within [`explore`]. The types here wrap the originals instead, so a `static` can hold
//! one, and other tests in the same process can use them too.

#![expect(clippy::missing_errors_doc, reason = "the errors are those of the originals")]

use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};
use std::thread::panicking;

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, MaxSteps, Runner};

pub use shuttle::future::{block_on, yield_now};
pub use shuttle::thread;

/// Stack size in bytes: enough for SQLite and for unoptimized cryptography.
const STACK_SIZE: usize = 1 << 20;

/// Runs `scenario` `times` times with random schedules: at each [`point`], a random thread continues. The scenario must
/// create its threads with [`thread`] and run its futures with [`block_on`].
///
/// # Panics
/// Panics if a run does. To repeat its schedule, set `SHUTTLE_RANDOM_SEED` to the seed on standard error.
pub fn explore(times: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::default();
    config.stack_size = STACK_SIZE;
    // A thread that waits for a lock polls it, which may take any number of steps.
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    let run = AssertUnwindSafe(|| Runner::new(RandomScheduler::new(times), config).run(scenario));
    if let Err(payload) = catch_unwind(run) {
        HAS_FAILED.store(true, Ordering::SeqCst);
        resume_unwind(payload);
    }
}

/// Whether a schedule has failed: its other threads never continue, and never release their locks.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Lets a random thread continue. Does nothing outside [`explore`].
pub fn point() {
    if is_exploring() && !panicking() {
        thread::yield_now();
    }
}

fn is_exploring() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// Acquires a lock as soon as it is free, by repeating `attempt`.
fn acquire<G>(attempt: impl Fn() -> TryLockResult<G>) -> LockResult<G> {
    loop {
        point();
        match attempt() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) => {
                let is_never_released = is_exploring() && panicking() || HAS_FAILED.load(Ordering::SeqCst);
                assert!(!is_never_released, "a schedule that failed holds this lock");
                // The holder may also be a thread of another test, which shuttle does not schedule.
                std::thread::yield_now();
            }
        }
    }
}

/// Replacement of [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Acquires the mutex, waiting until it is free.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        acquire(|| self.0.try_lock())
    }
}

/// Replacement of [`std::sync::RwLock`].
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Creates an unlocked lock.
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }

    /// Acquires the lock to read, waiting until no thread holds it to write.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        acquire(|| self.0.try_read())
    }

    /// Acquires the lock to write, waiting until it is free.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        acquire(|| self.0.try_write())
    }
}

/// Replacement of [`std::sync::atomic::AtomicU64`].
#[derive(Debug, Default)]
pub struct AtomicU64(std::sync::atomic::AtomicU64);

impl AtomicU64 {
    /// Creates an atomic with `value`.
    #[must_use]
    pub const fn new(value: u64) -> Self {
        Self(std::sync::atomic::AtomicU64::new(value))
    }
}

impl Deref for AtomicU64 {
    type Target = std::sync::atomic::AtomicU64;

    fn deref(&self) -> &Self::Target {
        point();
        &self.0
    }
}

/// Replacement of [`quick_cache::sync::Cache`].
pub struct Cache<K, V>(quick_cache::sync::Cache<K, V>);

impl<K: Eq + std::hash::Hash, V: Clone> Cache<K, V> {
    /// Creates a cache with capacity for `entries` entries.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self(quick_cache::sync::Cache::new(entries))
    }
}

impl<K, V> Deref for Cache<K, V> {
    type Target = quick_cache::sync::Cache<K, V>;

    fn deref(&self) -> &Self::Target {
        point();
        &self.0
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
