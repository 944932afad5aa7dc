//! The developer settings over the memory storage, asked as a host asks them.

mod app;
mod check;
mod failing;
mod fields;
mod headers;
mod hints;
mod json;
mod limits;
mod logs;
mod names;
mod origins;
mod pages;
mod sign_in;
mod twice;
