//! [`Networks`]: the trusted proxies.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

/// Ranges of addresses, such as those of the proxies in front of a server.
#[derive(Clone, Debug, Default)]
pub struct Networks(Arc<[IpNet]>);

impl Networks {
    /// Parses addresses, and ranges such as 10.0.0.0/8 (RFC 4632, 3.1; RFC 4291, 2.3).
    ///
    /// # Errors
    ///
    /// Returns a message with a hint if a text is neither, or is a range with bits after its prefix.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self, String> {
        texts.iter().map(|text| network(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the addresses if each network has only one, else `None`.
    pub fn single_addresses(&self) -> Option<Vec<IpAddr>> {
        let single = |network: &IpNet| (network.prefix_len() == network.max_prefix_len()).then(|| network.addr());
        self.0.iter().map(single).collect()
    }

    /// Returns whether one of the networks contains the address. An IPv4-mapped IPv6 address counts as IPv4.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Parses a network with the standard library: ipnet would skip leading zeros, which other programs read as octal.
fn network(text: &str) -> Result<IpNet, String> {
    let network = match text.split_once('/') {
        Some((_, bits)) if bits.starts_with('+') => None,
        Some((address, bits)) => {
            address.parse().ok().zip(bits.parse().ok()).and_then(|(address, bits)| IpNet::new(address, bits).ok())
        }
        None => text.parse().ok().map(IpAddr::into),
    };
    let Some(network) = network else {
        return Err(format!("invalid IP address or range {text:?}; use e.g. 10.0.0.0/8 or ::1"));
    };
    // A text such as 10.0.0.1/8 could mean the address or its network.
    if network.addr() != network.network() {
        let bits = network.prefix_len();
        return Err(format!("invalid range {text:?}: it has bits after its prefix of {bits}; set them to zero"));
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_contains_only_its_addresses() {
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
            let networks = Networks::parse(&[network]).unwrap();
            assert!(networks.contain(inside.parse().unwrap()), "{network} {inside}");
            assert!(!networks.contain(outside.parse().unwrap()), "{network} {outside}");
        }
    }

    #[test]
    fn single_addresses_are_distinguished_from_ranges() {
        let single = |networks: &[&str]| Networks::parse(networks).unwrap().single_addresses();
        let both: [IpAddr; 2] = ["10.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(single(&["10.0.0.1/32", "::1"]).unwrap(), both);
        assert_eq!(single(&[]), Some(vec![]));
        for range in ["10.0.0.0/31", "::/0"] {
            assert_eq!(single(&["::1", range]), None, "{range}");
        }
    }

    #[test]
    fn invalid_range_is_refused() {
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
            "010.0.0.0/8",
        ] {
            assert!(Networks::parse(&[text]).unwrap_err().contains("use e.g. 10.0.0.0/8"), "{text}");
        }
        for text in ["10.0.0.1/8", "10.0.0.1/0", "2001:db8::1/32"] {
            assert!(Networks::parse(&[text]).unwrap_err().contains("set them to zero"), "{text}");
        }
    }
}
