//! Courses in views over another program's tables.

mod conformance;
mod team;
