//! [`Client`]: who asks, as far as a connection and the proxies in front of it know.

use std::net::SocketAddr;

use catalogue_core::ClientAddress;
use http::{HeaderMap, HeaderValue, header::STRICT_TRANSPORT_SECURITY, request::Parts};

use super::{
    forwarded::{self, Hop},
    network::Networks,
};

/// RFC 6797: for a year, browsers ask this host over HTTPS alone. It says nothing of other hosts of its domain, which
/// are not ours to speak for. A year is what browsers ask of whoever wants to be taken seriously, and is renewed with
/// every answer; who goes back to HTTP must wait as long.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// What a connection knows of its client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) peer: SocketAddr,
    /// The connection is HTTPS.
    pub(super) secured: bool,
    /// Which peers are proxies that are believed.
    pub(super) proxies: Networks,
}

/// How a request came, as its answer must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    secured: bool,
}

impl Client {
    /// Puts the client's address into a request's extensions.
    pub(super) fn introduce(&self, head: &mut Parts) -> Way {
        let Hop { address, https } = self.origin(&head.headers);
        let address = address.unwrap_or_else(|| self.peer.ip().to_canonical());
        head.extensions.insert(ClientAddress(address));
        Way { secured: self.secured || https }
    }

    /// What trusted proxies tell of who has sent the request first.
    fn origin(&self, headers: &HeaderMap) -> Hop {
        let nothing = Hop { address: None, https: false };
        if self.proxies.is_empty() || !self.proxies.contain(self.peer.ip().to_canonical()) {
            return nothing;
        }
        forwarded::origin(headers, &self.proxies).unwrap_or(nothing)
    }
}

impl Way {
    /// Adds to an answer what the way of its request asks for.
    pub(super) fn mark(self, headers: &mut HeaderMap) {
        if self.secured {
            headers.insert(STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
    }
}
