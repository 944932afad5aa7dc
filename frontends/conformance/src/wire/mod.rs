//! One request over a dedicated connection.

pub(crate) mod http1;
pub(crate) mod http2;

use std::error::Error;

/// Why there is no response.
pub(crate) type ExchangeError = Box<dyn Error + Send + Sync>;
