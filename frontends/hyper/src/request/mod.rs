//! A request's head: whether a server may act on it, and who has sent it.

mod forwarded;
pub(crate) mod networks;
pub(crate) mod validate;

use std::net::{IpAddr, SocketAddr};

use catalogue_core::limit::ClientAddress;
use http::request::Parts;

use self::networks::Networks;

/// Who has connected: the client, or a proxy in front of it. It is among the extensions of a request whose body the service
/// [wants](crate::ServerConfig::wants_body).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) is_tls: bool,
}

impl Peer {
    /// Notes the client's address in a request's extensions. Tells whether the client used HTTPS, as far as is known.
    pub(crate) fn note_origin(self, head: &mut Parts, proxies: &Networks) -> bool {
        let address = self.address.ip().to_canonical();
        let origin = if proxies.contain(address) { forwarded::origin(&head.headers, proxies) } else { None };
        head.extensions.insert(ClientAddress(origin.and_then(|hop| hop.address).unwrap_or(address)));
        self.is_tls || origin.is_some_and(|hop| hop.https)
    }
}
