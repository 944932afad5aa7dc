//! One request over a connection of its own.

pub(crate) mod http1;
pub(crate) mod http2;

use std::error::Error;

/// Why there is no answer.
pub(crate) type Failed = Box<dyn Error + Send + Sync>;
