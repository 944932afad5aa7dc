//! The client of an issuer, against a scripted server.

mod metadata;
mod responses;
mod server;
mod timeouts;
