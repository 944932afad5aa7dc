//! [`Server`]: what a fixture returns.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;

use crate::cases::cases;

/// A server of a catalogue, running until this is dropped.
pub struct Server {
    address: SocketAddr,
    exceptions: Vec<(String, Option<u16>)>,
    _running: Box<dyn Any>,
}

impl Server {
    /// A server that listens at `address`, in cleartext, until `running` is dropped: a task's guard, a handle, or `()`
    /// where it ends with the runtime of the test.
    pub fn new(address: SocketAddr, running: impl Any) -> Self {
        Self { address, exceptions: Vec::new(), _running: Box::new(running) }
    }

    /// Declares that the framework answers the requests of a case otherwise, with that status: it refuses them by
    /// itself, or hands them on as other ones. Without a status it does not answer. The case then fails unless that
    /// is so.
    ///
    /// `case` is the name of its test, such as `path::unencoded_text_is_kept`.
    ///
    /// # Panics
    /// When there is no such case.
    #[must_use]
    pub fn except(mut self, case: &str, status: impl Into<Option<u16>>) -> Self {
        let known = cases().any(|(topic, name)| case.split_once("::") == Some((topic, name)));
        assert!(known, "there is no case {case}");
        self.exceptions.push((case.to_owned(), status.into()));
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How the framework answers the requests of `case`, if it does so otherwise.
    pub(crate) fn exception(&self, case: &str) -> Option<Option<u16>> {
        self.exceptions.iter().find(|(excepted, _)| excepted == case).map(|(_, status)| *status)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .field("exceptions", &self.exceptions)
            .finish_non_exhaustive()
    }
}
