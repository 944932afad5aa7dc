//! A request's head: whether a server may act on it, and who has sent it.

mod forwarded;
pub(crate) mod networks;
pub(crate) mod validate;

use std::net::{IpAddr, SocketAddr};

use catalogue_core::limit::ClientAddress;
use http::request::Parts;

use self::networks::Networks;

/// The address that has connected: the client's, or that of a proxy in front of it. Among the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) is_tls: bool,
}

impl Peer {
    /// Notes the addresses of client and peer in a request's extensions. Tells whether the client used HTTPS, as far as is known.
    pub(crate) fn note_origin(self, head: &mut Parts, proxies: &Networks) -> bool {
        let address = self.address.ip().to_canonical();
        let origin = if proxies.contain(address) { forwarded::origin(&head.headers, proxies) } else { None };
        head.extensions.insert(PeerAddress(address));
        head.extensions.insert(ClientAddress(origin.and_then(|hop| hop.address).unwrap_or(address)));
        self.is_tls || origin.is_some_and(|hop| hop.https)
    }
}
