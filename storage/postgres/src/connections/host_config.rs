//! Separate configurations for the hosts of a connection string.

use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode};

/// Name of a host, and a configuration with only this host.
pub(crate) type HostConfig = (String, Config);

/// Returns the name of the first host that is reached over a network.
pub(crate) fn first_remote_host(hosts: &[HostConfig]) -> Option<&str> {
    let remote = hosts.iter().find(|(_, single)| match (single.get_hostaddrs().first(), single.get_hosts().first()) {
        (Some(address), _) => !address.is_loopback(),
        (None, Some(Host::Tcp(name))) if name != "localhost" => {
            name.parse().map_or(true, |address: IpAddr| !address.is_loopback())
        }
        _ => false,
    });
    remote.map(|(name, _)| name.as_str())
}

/// Returns each host of `config` with the settings of `common`, which must have no hosts: a [`Config`] cannot remove them.
pub(crate) fn split(config: &Config, common: &Config) -> Vec<HostConfig> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let host_config = |index| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let mut single = common.clone();
        single.port(port).load_balance_hosts(LoadBalanceHosts::Disable);
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
    };
    (0..hosts.len().max(addresses.len())).map(host_config).collect()
}
