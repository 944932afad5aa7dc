//! [`Target`]: what is asked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use http::Uri;

use super::super::listening;
use crate::config::{Layers, Setting};
use crate::exit::Failure;

const RIGHT: &str = "write http://ADDRESS:PORT/PATH, like http://127.0.0.1:8080/docs/openapi.json";

/// Whom to ask, and for what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) https: bool,
    /// A host and a port.
    pub(super) address: String,
    /// The same as the request names it.
    pub(super) host: String,
    pub(super) path: String,
}

impl Target {
    /// What a URL names.
    pub(super) fn named(url: &str) -> Result<Self, Failure> {
        let wrong = || Failure::usage(format!("{url:?} is not an address to ask; {RIGHT}"));
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
        Ok(Self {
            https: false,
            address: format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80)),
            host: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    /// The documents of the server that has these settings, on this machine.
    pub(super) fn of_settings(layers: &Layers) -> Result<Self, Failure> {
        let listening = listening::listen_address(layers, None)?.unwrap_or(listening::DEFAULT_ADDRESS);
        if listening.port() == 0 {
            let what = format!("the server of these settings listens on a port that is found when it starts; {RIGHT}");
            return Err(Failure::usage(what));
        }
        let docs_url = layers.text(Setting::DocsUrl, None)?.map_or_else(|| "/docs".to_owned(), |text| text.value);
        // One that cannot be is told by the server, which then does not answer.
        let docs_url: Uri = docs_url.parse().unwrap_or_default();
        let address = reached(listening).to_string();
        Ok(Self {
            https: layers.text(Setting::TlsCert, None)?.is_some(),
            host: address.clone(),
            address,
            path: format!("{}/openapi.json", docs_url.path().trim_end_matches('/')),
        })
    }
}

/// Where this machine reaches what listens there: on every address, also on its own.
fn reached(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_also_that_of_this_machine() {
        for (listening, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:443", "[::1]:443"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(reached(listening.parse().unwrap()).to_string(), expected);
        }
    }
}
