//! Concurrent writes: one may wait for the other or be refused, but none that succeeded is lost.

use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use catalogue_core::admin::{AdminStorage, Import};
use catalogue_core::storage::StorageError;
use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::Storage;
use crate::concurrency::{join, on_thread, read_during_writes};
use crate::courses::concurrency::{generation, write_numbers_of_read};
use crate::reading::{find, slugs};
use crate::seed::{begin, course, id, seed};

/// Timeout after which a write during an import is assumed to wait for the import's end.
const BLOCKED_AFTER: Duration = Duration::from_millis(50);

/// Waits until the thread is done, or seems to wait for this import's end.
async fn wait_until_done_or_blocked<T>(thread: &ScopedJoinHandle<'_, T>) {
    let mut waited = Duration::ZERO;
    while !thread.is_finished() && waited < BLOCKED_AFTER {
        sleep(Duration::from_millis(1)).await;
        waited += Duration::from_millis(1);
    }
}

/// Puts course `slug` of account `a` and commits. A failed import is dropped.
async fn put(mut import: Box<dyn Import>, slug: &str) -> Result<(), StorageError> {
    import.put_course(&course("a", slug)).await?;
    import.commit().await
}

/// Imports course `slug` of account `a`, while `write` runs on another thread. Returns both results.
fn import_during<T: Send>(
    storage: &impl Storage,
    slug: &str,
    write: impl AsyncFnOnce() -> T + Send,
) -> (Result<(), StorageError>, T) {
    let runtime = Handle::current();
    thread::scope(|scope| {
        let import = on_thread(scope, runtime.clone(), async move || {
            let import = begin(storage).await;
            let write = on_thread(scope, runtime, write);
            wait_until_done_or_blocked(&write).await;
            (put(import, slug).await, join(write))
        });
        join(import)
    })
}

/// Each of two concurrent imports is stored completely if its commit succeeds.
pub async fn concurrent_imports_lose_no_data(storage: &impl Storage) {
    seed(storage, &[course("a", "there")]).await;
    let (first, second) = import_during(storage, "first", async || put(storage.begin_import().await?, "second").await);
    assert!(first.is_ok() || second.is_ok(), "At least one of two concurrent imports succeeds.");
    for (slug, result) in [("first", first), ("second", second)] {
        let is_stored = find(storage, "a", slug).await.is_some();
        assert_eq!(
            is_stored,
            result.is_ok(),
            "An import is stored completely if its commit succeeded, otherwise not at all."
        );
    }
    assert!(slugs(storage, "a").await.contains(&"there".to_owned()), "Concurrent imports lose no data.");
}

/// A removal that succeeds while an import is open is not undone by the import's commit.
pub async fn removal_during_import_is_not_undone(storage: &impl Storage) {
    seed(storage, &[course("a", "removed"), course("a", "there")]).await;
    let remove = async || AdminStorage::remove_course(storage, &id("a"), "removed").await;
    // The storage may refuse the import.
    let (_, removed) = import_during(storage, "put", remove);
    if removed.is_ok() {
        let found = find(storage, "a", "removed").await;
        assert_eq!(found, None, "A removal that succeeded during an import is not undone by its commit.");
    }
}

/// A call sees all of an import or nothing, never some of its courses.
pub async fn import_becomes_visible_atomically(storage: &impl Storage) {
    let read = async || {
        let numbers = write_numbers_of_read(storage).await;
        let same = numbers.iter().all(|number| *number == numbers[0]);
        assert!(same, "A list contains all of an import or nothing of it: {numbers:?}.");
    };
    read_during_writes(read, async |number| seed(storage, &generation(number)).await).await;
}
