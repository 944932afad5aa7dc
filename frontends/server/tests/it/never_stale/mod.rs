//! An answer reflects every change committed before its request arrived: a running server, readers on connections that
//! stay open, and other processes that write.
//!
//! Each scene has two servers over one database, one that keeps rendered answers and one that keeps none. Nothing here
//! waits for time to pass: a writer's process says when it has committed, and the very next answer must show it.

mod commands;
mod concurrent;
mod credentials;
mod files;
mod fixture;
mod journal_mode;
mod plain_sql;
mod read_only;
pub(crate) mod reader;
pub(crate) mod sql;
mod wal;

/// A list of two courses, the same list page by page, and the older of its courses.
const LIST: &str = "/api/v1/courses";
const PAGE: &str = "/api/v1/courses?limit=1";
const DETAIL: &str = "/api/v1/courses/one";
