//! One request over a dedicated connection.

pub(crate) mod http1;
pub(crate) mod http2;

use std::error::Error;

/// Error of an exchange without a response.
pub(crate) type ExchangeError = Box<dyn Error + Send + Sync>;
