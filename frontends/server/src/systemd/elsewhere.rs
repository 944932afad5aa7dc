//! Where there is no systemd.

use std::fmt::Display;
use std::future::pending;
use std::net::TcpListener;

use crate::exit::Failure;

/// Nobody has opened one.
pub(crate) fn inherited_listener() -> Result<Option<TcpListener>, Failure> {
    Ok(None)
}

/// Nobody is told.
pub(crate) fn ready(_: &dyn Display) {}

/// Nobody is told.
pub(crate) fn stopping() {}

/// Nobody is told of it.
pub(crate) struct Reload;

impl Reload {
    /// Nobody is told.
    pub(crate) fn begin() -> Self {
        Self
    }
}

/// Nobody waits for a sign of life.
pub(crate) async fn keep_alive() {
    pending().await
}
