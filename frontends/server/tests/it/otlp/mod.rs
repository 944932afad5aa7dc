//! `catalogue serve --otlp-endpoint`: what a collector gets, and that nobody waits for it.

mod collector;
mod export;
mod faults;
mod schema;
