//! Shared parts of the benchmarks, such as generated courses, databases of any size with callers and connections,
//! other programs to compare with, signed tokens, and the kernel's accounting of processor time.

#![expect(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "only this package uses it")]

mod accounting;
mod caller;
mod connection;
mod courses;
mod data;
mod failure;
mod figures;
mod host_app;
mod issuer;
mod large;
mod library;
mod programs;
mod responses;

pub use accounting::{CpuTimes, cpu_of_process, cpu_of_this_thread, resident_memory};
pub use caller::{Call, Caller, next_cursor};
pub use connection::{Connection, Response};
pub use courses::{course, position_after};
pub use data::{Data, Owner, account, fill};
pub use failure::Failure;
pub use figures::Figures;
pub use host_app::HostApp;
pub use issuer::Issuer;
pub use large::Large;
pub use library::{Library, block_on};
pub use programs::{Program, build, on_one_processor, pin_this_process};
pub use responses::read_response;
