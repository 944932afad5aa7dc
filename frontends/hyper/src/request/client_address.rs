//! [`Peer`]: who asks, as far as a connection and the proxies in front of it know.

use std::net::SocketAddr;

use catalogue_core::limit::ClientAddress;
use http::header::STRICT_TRANSPORT_SECURITY;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use super::forwarded;
use super::networks::Networks;

/// RFC 6797: for a year from each response, browsers ask this host, and no others of its domain, over HTTPS alone.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) is_tls: bool,
}

/// Whether a request came over HTTPS, all the way from the client as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secured(bool);

impl Peer {
    /// Puts the client's address into a request's extensions, and tells how it came.
    pub(crate) fn insert_client_address(self, head: &mut Parts, proxies: &Networks) -> Secured {
        let address = self.address.ip().to_canonical();
        let origin = if proxies.contain(address) { forwarded::origin(&head.headers, proxies) } else { None };
        head.extensions.insert(ClientAddress(origin.and_then(|hop| hop.address).unwrap_or(address)));
        Secured(self.is_tls || origin.is_some_and(|hop| hop.https))
    }
}

impl Secured {
    /// Tells browsers to stay with HTTPS.
    pub(crate) fn insert_hsts(self, headers: &mut HeaderMap) {
        if self.0 {
            headers.insert(STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT);
        }
    }
}
