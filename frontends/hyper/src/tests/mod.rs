//! The loop on real sockets, one test for each promise. Nothing here sleeps in order to wait: a test waits for bytes,
//! for the end of a connection, or for the service to be reached.

use super::{ConnectionMetrics, ServerConfig, serve};

/// Whether the modules beside this one speak through TLS.
const SECURED: bool = false;

mod accept;
mod body;
mod certificates;
mod close;
mod conformance;
mod framing;
mod full;
mod host;
mod http2;
mod http2_load;
mod metrics;
#[allow(clippy::duplicate_mod, reason = "the same tests, with another way to connect")]
mod over_tls;
mod pace;
mod panic;
mod renewal;
mod requests;
mod shutdown;
mod support;
mod timeouts;
mod tls;
mod wanted_body;
