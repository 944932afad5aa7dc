//! The memory storage passes the suite of every storage.

use catalogue_core::storage::MemoryStorage;

async fn fixture() -> (MemoryStorage, ()) {
    (MemoryStorage::new(), ())
}

catalogue_storage_conformance::tests!(fixture);

/// A storage behind a pointer is a storage too, with all its methods.
mod shared {
    use std::sync::Arc;

    catalogue_storage_conformance::tests!(|| async { (Arc::new(super::MemoryStorage::new()), ()) });
}

mod boxed {
    catalogue_storage_conformance::tests!(|| async { (Box::new(super::MemoryStorage::new()), ()) });
}
