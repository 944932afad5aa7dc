//! The memory storage passes the suite of every storage.

use catalogue_core::MemoryStorage;

async fn fixture() -> (MemoryStorage, ()) {
    (MemoryStorage::new(), ())
}

catalogue_storage_conformance::tests!(fixture);
