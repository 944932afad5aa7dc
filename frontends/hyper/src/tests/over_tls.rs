//! Runs the modules below, which test cleartext, again over TLS through a tunnel. Omits `shutdown`, which the tunnel would
//! disturb; `tls` tests the shutdown.

use super::{ConnectionMetrics, ServerConfig, certificates, pace, serve};

/// Whether the modules below connect over TLS.
const USES_TLS: bool = true;

#[path = "body.rs"]
mod body;
#[path = "close.rs"]
mod close;
#[path = "connection_limit.rs"]
mod connection_limit;
#[path = "framing.rs"]
mod framing;
#[path = "panic.rs"]
mod panic;
#[path = "requests.rs"]
mod requests;
#[expect(dead_code, reason = "the end of the server is not tested here")]
#[path = "support.rs"]
mod support;
#[path = "timeouts.rs"]
mod timeouts;
