//! Courses in views over another program's tables.

mod collations;
mod conformance;
mod faults;
mod freshness;
mod opening;
mod plans;
mod serving;
mod team;
