//! Locks, atomics and a cache for unit tests, in the place of those that ship. Within [`explore`] each use of one is a point at
//! which any other thread may go on; elsewhere they do what the others do.
//!
//! Those of shuttle itself work within one execution alone. These wrap the standard library's, so that a `static` may be one,
//! and a test beside [`explore`] need not know of it.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};
use std::thread::panicking;

use quick_cache::{UnitWeighter, Weighter};
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, MaxSteps, Runner};

pub use shuttle::future::{block_on, yield_now};
pub use shuttle::thread;

/// Room for SQLite and for cryptography without optimisation, in bytes.
const STACK: usize = 1 << 20;

/// Runs `scenario` so often, each time by another schedule: at each point a random thread goes on. Its threads are of
/// [`thread`], and its futures run in [`block_on`].
///
/// # Panics
/// When a run of it does, with the seed that makes the same schedule again in `SHUTTLE_RANDOM_SEED`.
pub fn explore(times: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::default();
    config.stack_size = STACK;
    // Who waits for a lock asks for it again and again.
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    let run = AssertUnwindSafe(|| Runner::new(RandomScheduler::new(times), config).run(scenario));
    if let Err(fault) = catch_unwind(run) {
        HAS_FAILED.store(true, Ordering::SeqCst);
        resume_unwind(fault);
    }
}

/// A schedule has failed: its other threads never go on, and give back nothing that they hold.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Lets any thread go on.
pub fn point() {
    if is_explored() && !panicking() {
        thread::yield_now();
    }
}

fn is_explored() -> bool {
    shuttle::current::try_get_current_task().is_some()
}

/// Takes a lock once it is free.
fn take<G>(attempt: impl Fn() -> TryLockResult<G>) -> LockResult<G> {
    loop {
        point();
        match attempt() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) => {
                let is_lost = is_explored() && panicking() || HAS_FAILED.load(Ordering::SeqCst);
                assert!(!is_lost, "a schedule that failed holds this lock");
                // By a thread of another test it may be held too.
                std::thread::yield_now();
            }
        }
    }
}

/// As [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// One that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for it.
    ///
    /// # Errors
    /// When somebody panicked who held it.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        take(|| self.0.try_lock())
    }

    /// Takes it if nobody holds it.
    ///
    /// # Errors
    /// When somebody holds it, or panicked who held it.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        point();
        self.0.try_lock()
    }
}

/// As [`std::sync::RwLock`].
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// One that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }

    /// Waits for it, to read.
    ///
    /// # Errors
    /// When somebody panicked who held it alone.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        take(|| self.0.try_read())
    }

    /// Waits for it, to have it alone.
    ///
    /// # Errors
    /// When somebody panicked who held it alone.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        take(|| self.0.try_write())
    }
}

/// As [`std::sync::atomic::AtomicU64`].
#[derive(Debug, Default)]
pub struct AtomicU64(std::sync::atomic::AtomicU64);

impl AtomicU64 {
    /// One of that value.
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

impl DerefMut for AtomicU64 {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// As [`quick_cache::sync::Cache`].
pub struct Cache<K, V, W = UnitWeighter>(quick_cache::sync::Cache<K, V, W>);

impl<K: Eq + std::hash::Hash, V: Clone> Cache<K, V> {
    /// One of so many entries.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        Self(quick_cache::sync::Cache::new(entries))
    }
}

impl<K: Eq + std::hash::Hash, V: Clone, W: Weighter<K, V> + Clone> Cache<K, V, W> {
    /// One of that weight.
    #[must_use]
    pub fn with_weighter(entries: usize, weight: u64, weighter: W) -> Self {
        Self(quick_cache::sync::Cache::with_weighter(entries, weight, weighter))
    }

    /// What all entries weigh.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.0.weight()
    }
}

impl<K, V, W> Deref for Cache<K, V, W> {
    type Target = quick_cache::sync::Cache<K, V, W>;

    fn deref(&self) -> &Self::Target {
        point();
        &self.0
    }
}

impl<K, V, W> fmt::Debug for Cache<K, V, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
