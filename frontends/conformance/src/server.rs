//! [`Server`]: what a fixture returns.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;

use crate::declared::{Declared, Otherwise};

/// A server of a catalogue, running until this is dropped.
///
/// What its framework does by itself is declared here, in the words of the failure that tells of it:
///
/// ```
/// # use catalogue_frontend_conformance::Server;
/// # fn declared(server: Server) -> Server {
/// server
///     .adds(["server", "x-frame-options"])
///     // Its router refuses the second path of the case, and hands on the others.
///     .except("path::broken_escapes_are_kept#2", 400)
/// # }
/// ```
pub struct Server {
    address: SocketAddr,
    declared: Declared,
    _running: Box<dyn Any>,
}

impl Server {
    /// A server that listens at `address`, in cleartext, until `running` is dropped: a task's guard, a handle, or `()`
    /// where it ends with the runtime of the test.
    pub fn new(address: SocketAddr, running: impl Any) -> Self {
        Self { address, declared: Declared::default(), _running: Box::new(running) }
    }

    /// Declares that the framework answers the requests of a case otherwise, with that status: it refuses them by
    /// itself, or hands them on as other ones. Without a status it does not answer, for two seconds at least. The case then
    /// fails unless that is so.
    ///
    /// `case` is the name of its test, such as `path::unencoded_text_is_kept`, or of one of its requests, as a failure
    /// names it: `path::broken_escapes_are_kept#2` is the second one.
    ///
    /// # Panics
    /// When there is no such case, or it was declared before.
    #[must_use]
    pub fn except(mut self, case: &str, status: impl Into<Option<u16>>) -> Self {
        self.declared.except(case, status.into().map_or(Otherwise::NoAnswer, Otherwise::Status));
        self
    }

    /// Declares that the framework answers the requests of a case, or one of them, with the right status and another
    /// body: it hands them on as other ones that have the same status. The case then fails unless that is so.
    ///
    /// # Panics
    /// When there is no such case, or it was declared before.
    #[must_use]
    pub fn other_body(mut self, case: &str) -> Self {
        self.declared.except(case, Otherwise::Body);
        self
    }

    /// Declares headers that the framework adds to every answer. A case fails where one is missing, and where the
    /// catalogue sends it.
    ///
    /// # Panics
    /// When one of them is a header that every server may send.
    #[must_use]
    pub fn adds<'n>(mut self, headers: impl IntoIterator<Item = &'n str>) -> Self {
        headers.into_iter().for_each(|name| self.declared.add(name));
        self
    }

    /// Declares headers of the catalogue that the framework drops from every answer. A case fails where one arrives, and
    /// every case where the catalogue never sends it.
    #[must_use]
    pub fn drops<'n>(mut self, headers: impl IntoIterator<Item = &'n str>) -> Self {
        headers.into_iter().for_each(|name| self.declared.drop(name));
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn declared(&self) -> &Declared {
        &self.declared
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}
