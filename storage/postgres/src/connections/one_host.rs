//! A configuration for each host of an address.

use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// The name of the first host that is spoken to over a network.
pub(crate) fn beyond_this_machine(config: &Config) -> Option<String> {
    let beyond = single(config).find(|(_, single)| {
        let address = single.get_hostaddrs().first().copied();
        match single.get_hosts().first() {
            #[cfg(unix)]
            Some(Host::Unix(_)) => false,
            Some(Host::Tcp(name)) if address.is_none() && name != "localhost" => {
                name.parse().map_or(true, |address: IpAddr| !address.is_loopback())
            }
            _ => address.is_some_and(|address| !address.is_loopback()),
        }
    });
    beyond.map(|(name, _)| name)
}

/// The name and the configuration of each host.
pub(crate) fn single(config: &Config) -> impl Iterator<Item = (String, Config)> {
    let (hosts, addresses) = (config.get_hosts(), config.get_hostaddrs());
    (0..hosts.len().max(addresses.len())).map(move |index| {
        let ports = config.get_ports();
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let mut single = without_hosts(config);
        single.port(port);
        let mut name = String::new();
        match hosts.get(index) {
            Some(Host::Tcp(host)) => {
                single.host(host);
                name = format!("{host}:{port}");
            }
            #[cfg(unix)]
            Some(Host::Unix(directory)) => {
                single.host_path(directory).ssl_mode(SslMode::Disable);
                name = format!("{}:{port}", directory.display());
            }
            None => {}
        }
        if let Some(address) = addresses.get(index) {
            single.hostaddr(*address);
            if name.is_empty() {
                name = format!("{address}:{port}");
            }
        }
        (name, single)
    })
}

/// All that a configuration says besides its hosts, which cannot be taken out of it.
fn without_hosts(config: &Config) -> Config {
    let mut copy = Config::new();
    copy.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(TargetSessionAttrs::Any);
    if let Some(user) = config.get_user() {
        copy.user(user);
    }
    if let Some(password) = config.get_password() {
        copy.password(password);
    }
    if let Some(database) = config.get_dbname() {
        copy.dbname(database);
    }
    if let Some(options) = config.get_options() {
        copy.options(options);
    }
    if let Some(name) = config.get_application_name() {
        copy.application_name(name);
    }
    if let Some(limit) = config.get_connect_timeout() {
        copy.connect_timeout(*limit);
    }
    if let Some(limit) = config.get_tcp_user_timeout() {
        copy.tcp_user_timeout(*limit);
    }
    if let Some(interval) = config.get_keepalives_interval() {
        copy.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        copy.keepalives_retries(retries);
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_and_loopback_are_on_this_machine() {
        let beyond = |address: &str| beyond_this_machine(&address.parse().unwrap());
        for near in ["host=/run/postgresql", "host=localhost,127.0.0.1,::1", "host=db hostaddr=127.0.0.1"] {
            assert_eq!(beyond(near), None, "{near}");
        }
        assert_eq!(beyond("host=/run/postgresql,db port=1,2").as_deref(), Some("db:2"));
        assert_eq!(beyond("host=localhost hostaddr=10.0.0.1").as_deref(), Some("localhost:5432"));
        assert_eq!(beyond("hostaddr=10.0.0.1").as_deref(), Some("10.0.0.1:5432"));
    }
}
