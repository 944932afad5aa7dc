//! A course platform on axum and sqlx that mounts the course catalogue API over its own tables.

mod host;
mod storage;

pub use host::routes;
pub use storage::Storage;
