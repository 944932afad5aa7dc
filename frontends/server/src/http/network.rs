//! [`Networks`]: the proxies that are believed.

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

/// Ranges of addresses, such as those of the proxies in front of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Networks(Arc<[Network]>);

/// A range of addresses: an address and how many of its leading bits count (RFC 4632, 3.1; RFC 4291, 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    bits: u8,
}

impl Networks {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the address lies in one of them.
    pub(crate) fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

impl FromIterator<Network> for Networks {
    fn from_iter<T: IntoIterator<Item = Network>>(networks: T) -> Self {
        Self(networks.into_iter().collect())
    }
}

impl Network {
    /// Addresses of IPv4 that are written as IPv6 count as what they are.
    fn contains(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an address or a range of them; write one like 10.0.0.0/8 or ::1");
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) if bits.bytes().all(|byte| byte.is_ascii_digit()) => (address, Some(bits)),
            Some(_) => return Err(wrong()),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        let network = Self { address, bits };
        // Else it would not be clear what was meant.
        let host_bits = match address {
            IpAddr::V4(address) if bits <= 32 => address.to_bits().checked_shl(u32::from(bits)).unwrap_or(0) != 0,
            IpAddr::V6(address) if bits <= 128 => address.to_bits().checked_shl(u32::from(bits)).unwrap_or(0) != 0,
            _ => return Err(wrong()),
        };
        if host_bits {
            return Err(format!("{text:?} has bits of an address behind the range's /{bits}; write them as zero"));
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_its_addresses_and_no_others() {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("192.0.2.128/25", "192.0.2.255", "192.0.2.127"),
            ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("127.0.0.1/32", "::ffff:127.0.0.1", "::ffff:127.0.0.2"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "192.0.2.1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.contains(inside.parse().unwrap()), "{network} {inside}");
            assert!(!network.contains(outside.parse().unwrap()), "{network} {outside}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/8/8",
            "::/129",
            "::/999",
            "proxy.example",
            "10.0.0/8",
        ] {
            assert!(text.parse::<Network>().unwrap_err().contains("like 10.0.0.0/8"), "{text}");
        }
        for text in ["10.0.0.1/8", "10.0.0.1/0", "2001:db8::1/32"] {
            assert!(text.parse::<Network>().unwrap_err().contains("as zero"), "{text}");
        }
    }
}
