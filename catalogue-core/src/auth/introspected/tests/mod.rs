//! Tests of opaque tokens, with a scripted issuer.

mod caching;
mod fixture;
mod requests;
mod responses;
mod single_flight;
