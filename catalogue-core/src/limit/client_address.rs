//! [`ClientAddress`]: address of a client, as a frontend knows it.

use std::net::{IpAddr, Ipv6Addr};

/// Address of the client behind a request. A frontend puts it into the request's extensions. A rate limit counts unknown
/// tokens by it; without it, they are not counted (decision A2). It must be the client's own: behind a proxy's address, all
/// clients would share one allowance. Take it from a header only if no client can send that header past the proxy.
///
/// ```
/// use catalogue_core::Catalogue;
/// use catalogue_core::limit::{ClientAddress, LocalRateLimiter, RateLimit};
/// use catalogue_core::storage::MemoryStorage;
/// use http::Request;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::new(1, std::time::Duration::from_secs(60))?;
/// let catalogue = Catalogue::with_api_keys(MemoryStorage::new()).rate_limiter(LocalRateLimiter::new(limit)).build()?;
/// for status in [401, 429] {
///     let mut request = Request::get("/api/v1/me").header("authorization", "Bearer guess").body(())?;
///     request.extensions_mut().insert(ClientAddress([192, 0, 2, 1].into()));
///     assert_eq!(catalogue.call(request).await.status(), status);
/// }
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run()).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// Returns the address that is counted: an IPv4 address, even one mapped into IPv6, or the first 64 bits of an IPv6
    /// address, since one client may use all addresses that begin with them.
    #[must_use]
    pub fn rate_limit_address(self) -> IpAddr {
        match self.0.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
            address @ IpAddr::V4(_) => address,
        }
    }
}
