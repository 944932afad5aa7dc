//! The loop on real sockets, one test for each promise. Nothing here sleeps in order to wait: a test waits for bytes,
//! for the end of a connection, or for the service to be reached.

mod accept;
mod behind_bodies;
mod body;
mod close;
mod conformance;
mod counts;
mod framing;
mod host;
mod panic;
mod requests;
mod shutdown;
mod support;
mod timeouts;
