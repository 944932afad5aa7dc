//! Courses in tables of another program, through views, beside credentials of ours.

mod suite;
mod team;
