//! [`Networks`]: the proxies that are believed.

use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

/// Ranges of addresses, such as those of the proxies in front of a server.
#[derive(Clone, Debug, Default)]
pub struct Networks(Arc<[IpNet]>);

impl Networks {
    /// Reads addresses, and ranges of them: an address and how many of its leading bits count (RFC 4632, 3.1; RFC 4291, 2.3).
    ///
    /// # Errors
    ///
    /// One of them is neither; the message says what would be right.
    pub fn parse(texts: &[impl AsRef<str>]) -> Result<Self, String> {
        texts.iter().map(|text| network(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The addresses, where each is a single one; `None` where one is a range of several.
    pub fn single_addresses(&self) -> Option<Vec<IpAddr>> {
        let single = |network: &IpNet| (network.prefix_len() == network.max_prefix_len()).then(|| network.addr());
        self.0.iter().map(single).collect()
    }

    /// Whether the address lies in one of them. An IPv4 address that is written as IPv6 counts as IPv4.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Address and bits are left to the standard library: ipnet would pass over leading zeros, which others read as octal.
fn network(text: &str) -> Result<IpNet, String> {
    let network = match text.split_once('/') {
        Some((_, bits)) if bits.starts_with('+') => None,
        Some((address, bits)) => {
            address.parse().ok().zip(bits.parse().ok()).and_then(|(address, bits)| IpNet::new(address, bits).ok())
        }
        None => text.parse().ok().map(IpAddr::into),
    };
    let Some(network) = network else {
        return Err(format!("{text:?} is not an address or a range of them; write one like 10.0.0.0/8 or ::1"));
    };
    // Else it would not be clear what was meant.
    if network.addr() != network.network() {
        let bits = network.prefix_len();
        return Err(format!("{text:?} has bits of an address behind the range's /{bits}; write them as zero"));
    }
    Ok(network)
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
            let networks = Networks::parse(&[network]).unwrap();
            assert!(networks.contain(inside.parse().unwrap()), "{network} {inside}");
            assert!(!networks.contain(outside.parse().unwrap()), "{network} {outside}");
        }
    }

    #[test]
    fn single_addresses_are_told_from_ranges() {
        let single = |networks: &[&str]| Networks::parse(networks).unwrap().single_addresses();
        let both: [IpAddr; 2] = ["10.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        assert_eq!(single(&["10.0.0.1/32", "::1"]).unwrap(), both);
        assert_eq!(single(&[]), Some(vec![]));
        for range in ["10.0.0.0/31", "::/0"] {
            assert_eq!(single(&["::1", range]), None, "{range}");
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
            "010.0.0.0/8",
        ] {
            assert!(Networks::parse(&[text]).unwrap_err().contains("like 10.0.0.0/8"), "{text}");
        }
        for text in ["10.0.0.1/8", "10.0.0.1/0", "2001:db8::1/32"] {
            assert!(Networks::parse(&[text]).unwrap_err().contains("as zero"), "{text}");
        }
    }
}
