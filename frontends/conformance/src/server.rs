//! [`Server`]: the value that a fixture returns.

use std::any::Any;
use std::net::SocketAddr;

use crate::deviations::{Deviation, Deviations};

/// A server of a catalogue, which runs until this value is dropped.
///
/// A fixture declares what the framework changes, with the names of requests and headers that a failed case prints:
///
/// ```
/// # use catalogue_frontend_conformance::Server;
/// # fn declared(server: Server) -> Server {
/// server
///     .adds_headers(["server", "x-frame-options"])
///     // Its router refuses the second path of the case, and forwards the others.
///     .expect_status("path::invalid_escapes_are_preserved#2", 400)
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) declared: Deviations,
    _running: Box<dyn Any>,
}

impl Server {
    /// Creates a server that listens at `address`, in cleartext, until `running` is dropped: a task's guard, a handle, or `()`
    /// if it ends with the runtime of the test.
    pub fn new(address: SocketAddr, running: impl Any) -> Self {
        Self { address, declared: Deviations::default(), _running: Box::new(running) }
    }

    /// Declares that the framework responds to the requests of a case with `status`, because it refuses or changes them.
    /// `None` declares that no response arrives within two seconds. The case fails if the server does otherwise.
    ///
    /// `case` is the name of a case, such as `path::unescaped_text_is_preserved`, or of one request of it, as failures print
    /// it: `path::invalid_escapes_are_preserved#2` is the second request.
    ///
    /// # Panics
    /// Panics if `case` is neither a case nor a request of one, or was declared before.
    #[must_use]
    pub fn expect_status(mut self, case: &str, status: impl Into<Option<u16>>) -> Self {
        self.declared.declare(case, status.into().map_or(Deviation::NoResponse, Deviation::Status));
        self
    }

    /// Declares that the framework's responses to a case, or to one request of it, have the right status and another body,
    /// because it changes the requests. The case fails if the server does otherwise.
    ///
    /// # Panics
    /// Panics if `case` is neither a case nor a request of one, or was declared before.
    #[must_use]
    pub fn expect_other_body(mut self, case: &str) -> Self {
        self.declared.declare(case, Deviation::Body);
        self
    }

    /// Declares headers that the framework adds to every response. A case fails if one is missing, or if the catalogue itself
    /// sends it.
    ///
    /// # Panics
    /// Panics if one of them is a header that every server may send.
    #[must_use]
    pub fn adds_headers<'n>(mut self, headers: impl IntoIterator<Item = &'n str>) -> Self {
        headers.into_iter().for_each(|name| self.declared.add(name));
        self
    }

    /// Declares headers of the catalogue that the framework drops from every response. A case fails if one arrives, and all
    /// cases fail if the catalogue never sends it.
    #[must_use]
    pub fn drops_headers<'n>(mut self, headers: impl IntoIterator<Item = &'n str>) -> Self {
        headers.into_iter().for_each(|name| self.declared.drop(name));
        self
    }
}
