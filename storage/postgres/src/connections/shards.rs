//! [`Shards`]: which parts of tables that are spread over nodes give no answer.
//!
//! One node may be silent while the others answer. Its reads would take every connection and hold it until their deadline. So
//! once one has waited for half of that, few reads wait on, and few others of its shard begin; the rest fail soon.

use std::array;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use catalogue_core::storage::StorageError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

use crate::error::unavailable;

/// As many as Citus makes where nothing is said. With another power of two, a part is some of them, or a piece of one.
const SHARDS: usize = 32;

/// How long a read waits until it is one of those few: once the node answers, they soon make room.
const TRIAL_WAIT: Duration = Duration::from_millis(100);

pub(crate) struct Shards {
    silent: [AtomicBool; SHARDS],
    /// For reads of silent shards, all together.
    trials: Semaphore,
}

/// The shard that a read is about.
#[derive(Clone, Copy)]
pub(crate) struct Shard<'s> {
    is_silent: &'s AtomicBool,
    trials: &'s Semaphore,
}

/// A read that may be asked of a shard.
pub(crate) struct Turn<'s> {
    shard: Shard<'s>,
    /// Where the shard is silent.
    trial: Option<SemaphorePermit<'s>>,
}

impl Shards {
    /// For a pool of so many connections, of which a quarter may wait for silent shards.
    pub(crate) fn new(connections: usize) -> Self {
        let silent = array::from_fn(|_| AtomicBool::new(false));
        Self { silent, trials: Semaphore::new((connections / 4).max(1)) }
    }

    /// The one where rows with that key are, the bytes of a text or digest.
    pub(crate) fn of(&self, key: &[u8]) -> Shard<'_> {
        // Citus divides the range of a signed number.
        let place = hash(key) ^ (1 << 31);
        let is_silent = &self.silent[(place >> (u32::BITS - SHARDS.ilog2())) as usize];
        Shard { is_silent, trials: &self.trials }
    }
}

impl<'s> Shard<'s> {
    /// Lets a read begin: at any time while the shard answers, and else as one of few.
    pub(crate) async fn turn(self) -> Result<Turn<'s>, StorageError> {
        if !self.is_silent.load(Ordering::Relaxed) {
            return Ok(Turn { shard: self, trial: None });
        }
        match timeout(TRIAL_WAIT, self.trials.acquire()).await {
            Ok(Ok(trial)) => Ok(Turn { shard: self, trial: Some(trial) }),
            _ => Err(silent()),
        }
    }
}

impl Turn<'_> {
    /// For a read that had to wait for its connection: the shard may have been found out meanwhile.
    pub(crate) fn after_waiting(&mut self) -> Result<(), StorageError> {
        if self.trial.is_none() && self.shard.is_silent.load(Ordering::Relaxed) {
            self.trial = Some(self.shard.trials.try_acquire().map_err(|_| silent())?);
        }
        Ok(())
    }

    /// The answer. After `patience` the shard is silent, and as few as could begin then may wait on until the deadline. An error
    /// does not end that: the server itself gives up at the same time as the deadline, and may be first.
    pub(crate) async fn answer<T, E>(
        &mut self,
        asking: impl Future<Output = Result<T, E>>,
        patience: Duration,
        deadline: Instant,
    ) -> Result<Result<T, E>, Elapsed> {
        let (Shard { is_silent, trials }, mut asking) = (self.shard, pin!(asking));
        // One that has waited for a connection for so long has less time, which tells nothing.
        let soon = Instant::now() + patience;
        if self.trial.is_none() && soon < deadline {
            match timeout_at(soon, asking.as_mut()).await {
                Err(elapsed) => {
                    is_silent.store(true, Ordering::Relaxed);
                    self.trial = Some(trials.try_acquire().map_err(|_| elapsed)?);
                }
                answered => return answered,
            }
        }
        let answer = timeout_at(deadline, asking).await?;
        if answer.is_ok() {
            is_silent.store(false, Ordering::Relaxed);
        }
        Ok(answer)
    }
}

fn silent() -> StorageError {
    unavailable("the node of this account's rows does not answer, and others wait for it already")
}

/// PostgreSQL's own hash of texts and bytes, by which Citus chooses a shard: lookup3, by Bob Jenkins.
fn hash(key: &[u8]) -> u32 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let (blocks, rest) = key.as_chunks::<12>();
    let [mut a, mut b, mut c] = [0x9e37_79b9_u32.wrapping_add(key.len() as u32).wrapping_add(3_923_095); 3];
    for block in blocks {
        a = a.wrapping_add(word(&block[..4]));
        b = b.wrapping_add(word(&block[4..8]));
        c = c.wrapping_add(word(&block[8..]));
        for bits in [4, 6, 8, 16, 19, 4] {
            a = a.wrapping_sub(c) ^ c.rotate_left(bits);
            c = c.wrapping_add(b);
            (a, b, c) = (b, c, a);
        }
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    a = a.wrapping_add(word(&last[..4]));
    b = b.wrapping_add(word(&last[4..8]));
    // The lowest byte is kept for the length.
    c = c.wrapping_add(word(&last[8..]) << 8);
    for bits in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(bits));
        (a, b, c) = (b, c, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    #[tokio::test(start_paused = true)]
    async fn a_read_of_a_silent_shard_waits_until_its_deadline() {
        let shards = Shards::new(1);
        let shard = shards.of(b"a");
        // The first finds the shard silent, and the second knows.
        for knows in [false, true] {
            assert_eq!(shard.is_silent.load(Ordering::Relaxed), knows);
            let deadline = Instant::now() + 2 * PATIENCE;
            let mut turn = shard.turn().await.unwrap();
            assert!(turn.answer(pending::<Result<(), ()>>(), PATIENCE, deadline).await.is_err());
            assert!(Instant::now() == deadline, "{knows}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_got_its_connection_late_tells_nothing_of_its_shard() {
        let shards = Shards::new(1);
        let shard = shards.of(b"a");
        for left in [PATIENCE / 2, PATIENCE] {
            let deadline = Instant::now() + left;
            let mut turn = shard.turn().await.unwrap();
            assert!(turn.answer(pending::<Result<(), ()>>(), PATIENCE, deadline).await.is_err());
            assert!(Instant::now() == deadline && !shard.is_silent.load(Ordering::Relaxed), "{left:?}");
        }
    }

    /// As an answer that comes late ends it.
    #[tokio::test(start_paused = true)]
    async fn the_error_of_a_server_that_gave_up_ends_no_silence() {
        let shards = Shards::new(1);
        let shard = shards.of(b"a");
        for answer in [Err(()), Ok(())] {
            let asking = async {
                tokio::time::sleep(2 * PATIENCE).await;
                answer
            };
            let mut turn = shard.turn().await.unwrap();
            let answered = turn.answer(asking, PATIENCE, Instant::now() + 3 * PATIENCE).await;
            assert!(answered.is_ok());
            assert_eq!(shard.is_silent.load(Ordering::Relaxed), answer.is_err());
        }
    }

    #[test]
    fn the_hash_is_that_of_postgresql() {
        // As `hashtext` answers.
        let hashed = [
            ("", -1_477_818_771),
            ("a", 1_075_015_857),
            ("acc_demo", 2_001_488_713),
            ("acc_demo_twe", -1_020_260_375),
            ("a longer name", 1_300_051_656),
            ("0123456789abcdef01234567", 64_924_865),
            ("été", 1_868_829_380),
        ];
        for (text, hashed) in hashed {
            assert_eq!(hash(text.as_bytes()).cast_signed(), hashed, "{text}");
        }
    }
}
