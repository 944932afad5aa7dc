//! What the benchmarks share: made-up courses, a database of any size with a caller who reads it, the same page by
//! OFFSET, other programs to measure beside each other, and the kernel's account of who used the processor.

mod accounting;
mod caller;
mod connection;
mod courses;
mod data;
mod figures;
mod library;
mod offset;
mod picture;
mod programs;

pub use accounting::{cpu_of_process, cpu_of_this_thread, resident_memory};
pub use caller::{Caller, Work};
pub use connection::{Answer, Connection};
pub use courses::{account_line, course, course_line, position_after};
pub use data::{Data, Owner};
pub use figures::Figures;
pub use library::{Library, grant, now};
pub use offset::OffsetReader;
pub use picture::{Line, Panel, draw, grouped};
pub use programs::{Program, build, pin_this_process};
