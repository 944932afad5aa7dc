//! [`Listening`]: the addresses of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::config::{Layers, Setting, Sourced};
use crate::exit::Failure;

/// Where a server listens unless `--listen` says otherwise.
pub(super) const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Where `serve` listens.
#[derive(Debug)]
pub(super) struct Listening {
    listen: Sourced<SocketAddr>,
    admin: Option<Sourced<SocketAddr>>,
}

impl Listening {
    /// What the layers say.
    pub(super) fn resolve(layers: &Layers, listen: Option<String>, admin: Option<String>) -> Result<Self, Failure> {
        let listen = address(layers, Setting::Listen, listen)?;
        let admin = address(layers, Setting::AdminListen, admin)?;
        Ok(Self { listen: listen.unwrap_or_else(|| Sourced::default(DEFAULT_ADDRESS)), admin })
    }

    /// For clients.
    pub(super) fn clients(&self) -> SocketAddr {
        self.listen.value
    }

    /// For those who operate the server, if it has an address for them.
    pub(super) fn admin(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(|admin| admin.value)
    }

    /// Refuses one address for both, which the second of them could not have. A port that is picked is another one.
    pub(super) fn check_apart(&self) -> Result<(), Failure> {
        let Some(admin) = self.admin.as_ref().filter(|admin| admin.value == self.listen.value) else { return Ok(()) };
        if admin.value.port() == 0 {
            return Ok(());
        }
        let (source, default) = match &*self.listen.source {
            "" => (admin.source.clone(), ", the default of --listen,"),
            listen => (format!("{listen} and {}", admin.source), ""),
        };
        let what = format!("{}{default} cannot be both for clients and for operators; name another port", admin.value);
        Err(Sourced { value: (), source }.wrong(&what))
    }
}

/// The address for clients, if the layers name one.
pub(super) fn listen_address(layers: &Layers, given: Option<String>) -> Result<Option<SocketAddr>, Failure> {
    Ok(address(layers, Setting::Listen, given)?.map(|address| address.value))
}

fn address(layers: &Layers, setting: Setting, given: Option<String>) -> Result<Option<Sourced<SocketAddr>>, Failure> {
    let Some(text) = layers.text(setting, given)? else { return Ok(None) };
    let source = text.source.clone();
    let value = text.parse(|text| {
        text.parse().map_err(|_| {
            format!("{text:?} is not an address to listen on; write an IP address and a port, like 127.0.0.1:8080")
        })
    })?;
    Ok(Some(Sourced { value, source }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(listen: Option<&str>, admin: Option<&str>) -> Result<(), Failure> {
        let [listen, admin] = [listen, admin].map(|text| text.map(str::to_owned));
        Listening::resolve(&Layers::default(), listen, admin).unwrap().check_apart()
    }

    #[test]
    fn clients_and_operators_have_an_address_each() {
        for (listen, admin) in [
            (None, None),
            (Some("127.0.0.1:80"), None),
            (None, Some("127.0.0.1:9090")),
            (Some("127.0.0.1:0"), Some("127.0.0.1:0")),
            (Some("127.0.0.1:80"), Some("127.0.0.2:80")),
        ] {
            assert_eq!(apart(listen, admin), Ok(()), "{listen:?} {admin:?}");
        }
        let both = apart(Some("[::1]:80"), Some("[::1]:80")).unwrap_err();
        assert!(both.message().starts_with("--listen and --admin-listen: [::1]:80 cannot be both"), "{both:?}");
        let default = apart(None, Some("127.0.0.1:8080")).unwrap_err();
        assert!(
            default.message().starts_with("--admin-listen: 127.0.0.1:8080, the default of --listen, cannot"),
            "{default:?}"
        );
    }
}
