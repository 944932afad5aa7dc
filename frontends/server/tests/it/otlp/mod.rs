//! `catalogue serve --otlp-endpoint`: what a collector gets, and that nobody waits for it.

mod collector;
mod errors;
mod export;
mod schema;
