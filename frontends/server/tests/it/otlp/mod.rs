//! `catalogue serve --otlp-endpoint`: exported spans, and failing collectors.

mod collector;
mod errors;
mod export;
mod schema;
