//! A request's head: its validation, and its client's address.

mod forwarded;
pub(crate) mod networks;
#[cfg(test)]
mod tests;
pub(crate) mod validate;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use catalogue_core::limit::ClientAddress;
use http::request::Parts;

use self::networks::Networks;

/// Address of the peer that has connected: the client, or a proxy in front of this server. An extension of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) is_tls: bool,
}

impl Peer {
    /// Adds the addresses of client and peer to a request's extensions. Returns whether the client used HTTPS, as far as is
    /// known. Sets `warned` when it logs that a trusted proxy sent neither header.
    pub(crate) fn record_client_address(self, head: &mut Parts, proxies: &Networks, warned: &AtomicBool) -> bool {
        let peer = self.address.ip().to_canonical();
        let is_proxy = proxies.contain(peer);
        let reported = if is_proxy { forwarded::client_address(&head.headers, proxies) } else { None };
        let client = reported.unwrap_or(peer);
        let source = if reported.is_some() { "X-Forwarded-For" } else { "connection" };
        tracing::debug!(%client, %peer, source, "client address");
        if is_proxy && !forwarded::is_reported(&head.headers) && !warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %peer,
                "a trusted proxy sent neither X-Forwarded-For nor X-Forwarded-Proto, so its address is used as \
                 the client's; configure it to set both"
            );
        }
        head.extensions.insert(PeerAddress(peer));
        head.extensions.insert(ClientAddress(client));
        self.is_tls || is_proxy && forwarded::is_https(&head.headers)
    }
}
