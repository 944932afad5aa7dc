#![doc = include_str!("../README.md")]

mod recorder;

pub use recorder::Recorder;
