//! The developer settings over the memory storage, called like a host application calls them.

mod app;
mod check;
mod failing;
mod fields;
mod headers;
mod hints;
mod host;
mod json;
mod limits;
mod logs;
mod names;
mod origins;
mod pages;
mod resubmission;
mod sign_in;
