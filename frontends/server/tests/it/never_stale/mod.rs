//! Each response reflects every change committed before its request arrived: running servers, readers on persistent
//! connections, and other processes that write. The storages' tests hold these laws in one process.
//!
//! Each test has two servers over one database, one with a page cache and one without. A writer reports its commit, and the
//! next response must show it. Tests wait only until a key expires, and until the servers check for a replaced file.

mod changes;
mod files;
mod fixture;
mod read_only;
pub(crate) mod reader;
pub(crate) mod sql;
mod wal;

/// Paths of a list of two courses, of its first page of one course, and of its older course.
const LIST: &str = "/api/v1/courses";
const PAGE: &str = "/api/v1/courses?limit=1";
const DETAIL: &str = "/api/v1/courses/one";
