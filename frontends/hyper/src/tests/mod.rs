//! Tests of the server on real sockets. They wait for events, such as bytes, the end of a connection or a request that reaches
//! the service. Only tests of timeouts, of slow clients and of what must not happen depend on the clock.

use super::{ConnectionMetrics, ServerConfig, serve};

/// Whether these modules connect over TLS. `over_tls` includes some of them again with `true`.
const USES_TLS: bool = false;

mod accept;
mod body;
mod certificates;
mod close;
mod collected_body;
mod conformance;
mod connection_limit;
mod framing;
mod http2;
mod http2_load;
pub(crate) mod log;
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
