//! Checks the listeners, the trusted proxies, and the developer settings.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};

use crate::commands::startup_warnings::{CLEARTEXT, in_cleartext};
use crate::report::Report;
use crate::settings::{DeveloperOptions, OwnerHeader, ServeSettings};

pub(super) fn check(settings: &ServeSettings, secured: bool, report: &mut Report) {
    check_bindable("listen", settings.listen, report);
    if in_cleartext(settings, settings.listen, secured) {
        report.warning("listen", CLEARTEXT);
    }
    if let Some(address) = settings.admin_listen {
        check_bindable("admin", address, report);
        check_admin_address(address, report);
    }
    check_proxies(settings, secured, report);
    if let Some(developer) = &settings.developer {
        check_owners(developer, settings.listen, report);
    }
}

/// Reports whether `address` can be bound. An address in use most likely belongs to the running server.
fn check_bindable(check: &'static str, address: SocketAddr, report: &mut Report) {
    match TcpListener::bind(address) {
        Ok(_) => report.ok(check, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            report.ok(check, format!("{address} is in use, probably by the running server"));
        }
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            report.error(check, format!("{} is not an address of this machine; use one that is", address.ip()));
        }
        Err(error) => {
            let hint = "ports below 1024 require root or CAP_NET_BIND_SERVICE";
            report.warning(check, format!("cannot bind {address}: {error}; {hint}"));
        }
    }
}

/// Reports whether the admin listener can be reached from the internet: it is for operators, not for clients.
fn check_admin_address(address: SocketAddr, report: &mut Report) {
    if is_private_address(address.ip()) {
        report.ok("admin", format!("{} is not a public address", address.ip()));
    } else {
        let text = "exposes metrics to everyone who can reach it; use an internal address";
        report.warning("admin", format!("{address} {text}"));
    }
}

/// Returns whether an address belongs to this machine or to a private network (RFC 1918, RFC 4193) or link.
fn is_private_address(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

fn check_proxies(settings: &ServeSettings, secured: bool, report: &mut Report) {
    const CHECK: &str = "proxies";
    let proxies = &settings.server.trusted_proxies;
    // No host has these addresses (RFC 5737, RFC 3849), so a range that contains them is probably a range of all addresses.
    let documentation_addresses: [IpAddr; 2] = [[192, 0, 2, 1].into(), [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()];
    if documentation_addresses.into_iter().any(|address| proxies.contain(address)) {
        let text = "all addresses are trusted, so any client can forge its address; list only your proxies";
        report.error(CHECK, text);
    } else if proxies.is_empty() && !secured && settings.api.base_url.starts_with("https://") {
        let text = "clients use HTTPS and the server speaks HTTP, so there is a proxy";
        report.warning(CHECK, format!("{text}; set --trusted-proxies, or all clients appear with the proxy's address"));
    } else if proxies.is_empty() {
        report.ok(CHECK, "no trusted proxies: a client's address is that of its connection");
    } else {
        report.ok(CHECK, "trusted proxies pass client addresses in X-Forwarded-For, which is ignored from others");
    }
}

fn check_owners(developer: &DeveloperOptions, listen: SocketAddr, report: &mut Report) {
    const CHECK: &str = "developer settings";
    let url = developer.url.as_str();
    match (&developer.owner_header, developer.warning(listen)) {
        (_, Some(warning)) => report.warning(CHECK, warning),
        (Some(OwnerHeader { name, .. }), None) => {
            let text = "make sure that the proxy removes this header from client requests, or clients can forge it";
            report.ok(CHECK, format!("are at {url}, with the owner in {name}; {text}"));
        }
        (None, None) => report.ok(CHECK, format!("are at {url}; create sign-in links with `settings link`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_recognized() {
        for inside in ["127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.1.1", "fd00::1", "fe80::1"]
        {
            assert!(is_private_address(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["0.0.0.0", "::", "192.0.2.1", "172.32.0.1", "2001:db8::1", "::ffff:192.0.2.1"] {
            assert!(!is_private_address(outside.parse().unwrap()), "{outside}");
        }
    }
}
