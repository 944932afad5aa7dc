//! The client's address and scheme, and what the log reports about them.

use http::Request;

use super::*;
use crate::tests::log::capture_log;

/// Returns the client's address and scheme for a request from 10.0.0.1, and its log.
fn record(proxies: &[&str], fields: &[(&str, &str)], warned: &AtomicBool) -> (String, bool, String) {
    let mut request = Request::get("/");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let mut head = request.body(()).unwrap().into_parts().0;
    let peer = Peer { address: ([10, 0, 0, 1], 1).into(), is_tls: false };
    let (log, _guard) = capture_log();
    let is_https = peer.record_client_address(&mut head, &Networks::parse(proxies).unwrap(), warned);
    assert_eq!(head.extensions.get(), Some(&PeerAddress([10, 0, 0, 1].into())));
    let client = head.extensions.get::<ClientAddress>().unwrap().0.to_string();
    (client, is_https, log.text())
}

#[test]
fn header_is_used_only_when_peer_is_trusted() {
    let fields = [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-proto", "https")];
    for (proxies, client, source) in
        [(&["10.0.0.1"][..], "192.0.2.1", "X-Forwarded-For"), (&["10.0.0.2"], "10.0.0.1", "connection")]
    {
        let (address, is_https, log) = record(proxies, &fields, &AtomicBool::default());
        assert_eq!((&*address, is_https), (client, client != "10.0.0.1"));
        let line = format!("client address client={client} peer=10.0.0.1 source=\"{source}\"");
        assert!(log.contains(&line) && log.lines().count() == 1, "{log}");
    }
}

#[test]
fn proxy_without_header_is_logged_once() {
    let warned = AtomicBool::default();
    let warns = |proxies: &[&str], fields: &[(&str, &str)]| record(proxies, fields, &warned).2.contains("WARN");
    assert!(!warns(&[], &[]));
    for field in ["x-forwarded-for", "x-forwarded-proto"] {
        assert!(!warns(&["10.0.0.1"], &[(field, "x")]));
    }
    assert!(warns(&["10.0.0.1"], &[("forwarded", "for=192.0.2.1")]));
    assert!(!warns(&["10.0.0.1"], &[]));
}
