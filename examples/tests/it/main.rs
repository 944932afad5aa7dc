//! Each example is started as a reader would start it, called, and stopped.

mod data;
mod hosts;
mod http;
mod program;
