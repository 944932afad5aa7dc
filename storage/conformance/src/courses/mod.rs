//! The cases of a [`CourseStorage`](catalogue_core::storage::CourseStorage).

pub mod changes;
pub mod concurrency;
pub mod detail;
pub mod fields;
pub mod isolation;
pub mod list;
pub mod paging;
pub mod paging_under_change;
pub mod revision;
