//! The contract and the public API, mostly through `Catalogue::call` over the memory storage.

mod app;
mod authentication;
mod clock;
mod compiler_messages;
mod compression;
mod conditional;
mod contract;
mod cors;
mod course;
mod courses;
mod failures;
mod identified_by;
mod imports;
mod me;
mod misuse;
mod mounts;
mod names;
mod observer;
mod page_cache;
mod paging_properties;
mod paths_and_methods;
mod public_documents;
mod rate_limits;
mod request_ids;
mod root;
mod schedules;
#[cfg(feature = "oauth")]
mod signed_tokens;
mod unknown_tokens;
mod waiting;
