//! Runs the tests of cleartext through TLS. Omits accepts, which are the same, and the shutdown, where the tunnel would
//! be in the way; `tls` tests that.

use super::{ConnectionMetrics, ServerConfig, certificates, pace, serve};

/// Whether the modules next to this one use TLS.
const SECURED: bool = true;

#[path = "body.rs"]
mod body;
#[path = "close.rs"]
mod close;
#[path = "connection_limit.rs"]
mod connection_limit;
#[path = "framing.rs"]
mod framing;
#[path = "host.rs"]
mod host;
#[path = "panic.rs"]
mod panic;
#[path = "requests.rs"]
mod requests;
#[expect(dead_code, reason = "the end of the server is not tested here")]
#[path = "support.rs"]
mod support;
#[path = "timeouts.rs"]
mod timeouts;
