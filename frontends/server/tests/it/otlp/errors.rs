//! A collector that is unavailable, unresponsive or rejects spans, and invalid options.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;

use super::collector::Collector;
use crate::closed_port::ClosedPort;
use crate::observed::{Observed, send};
use crate::program::TestDir;

fn serve(dir: &TestDir, endpoint: &str) -> Observed {
    Observed::start(dir, &format!("--otlp-endpoint {endpoint}"))
}

fn get(observed: &Observed) -> u16 {
    send(&observed.server.address, "GET /docs HTTP/1.1").0
}

/// Returns warnings and errors, except the warning about the new database, which every test causes.
pub(super) fn warnings(log: &str) -> Vec<&str> {
    let is_wrong = |line: &&str| line.contains("WARN") || line.contains("ERROR");
    log.lines().filter(is_wrong).filter(|line| !line.contains("created a new database")).collect()
}

#[test]
fn spans_are_queued_up_to_5000_while_collector_is_unavailable() {
    let dir = TestDir::new();
    let port = ClosedPort::new();
    let observed = serve(&dir, &format!("http://127.0.0.1:{}", port.number()));
    assert_eq!(get(&observed), 200);
    observed.wait_for_log("the collector is unavailable");
    let mut responses = TcpStream::connect(&observed.server.address).unwrap();
    let mut requests = responses.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            let request = "GET /none HTTP/1.1\r\nHost: a\r\n\r\n";
            requests.write_all(request.repeat(5_098).as_bytes()).unwrap();
            requests.write_all(b"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
        });
        responses.read_to_end(&mut Vec::new()).unwrap();
    });
    assert_eq!(observed.metrics()["catalogue_spans_dropped_total"], 100.0);

    let collector = Collector::on(port.open(), Collector::OK, None);
    observed.wait_for_metric("catalogue_spans_exported_total", 5_000.0);
    assert_eq!(get(&observed), 200);
    let log = observed.stop_and_read_log();
    assert!(log.contains("the collector accepts spans again dropped=100"), "{log}");
    assert_eq!(warnings(&log).len(), 1, "{log}");
    assert_eq!(collector.spans().len(), 5_001);
}

#[test]
fn unresponsive_collector_does_not_delay_requests() {
    let dir = TestDir::new();
    let collector = Collector::with_response(Collector::NO_RESPONSE);
    let observed = serve(&dir, &collector.url());
    assert_eq!(get(&observed), 200);
    collector.next();
    for _ in 0..20 {
        assert_eq!(get(&observed), 200);
    }
    let log = observed.stop_and_read_log();
    assert!(warnings(&log).last().unwrap().contains("the last spans were not sent"), "{log}");
}

#[test]
fn rejected_spans_are_dropped_and_counted() {
    let dir = TestDir::new();
    let collector = Collector::with_response("HTTP/1.1 400 Bad Request");
    let observed = serve(&dir, &collector.url());
    for sent in 1..=2 {
        assert_eq!(get(&observed), 200);
        assert_eq!(collector.next().export().spans.len(), 1);
        observed.wait_for_metric("catalogue_spans_dropped_total", f64::from(sent));
    }
    collector.set_response(Collector::OK);
    assert_eq!(get(&observed), 200);
    assert_eq!(collector.next().export().spans.len(), 1);
    observed.wait_for_metric("catalogue_spans_exported_total", 1.0);
    let log = observed.stop_and_read_log();
    assert!(
        matches!(*warnings(&log), [line] if line.contains("rejected spans") && line.contains("unexpected status 400")),
        "{log}"
    );
    assert!(log.contains("the collector accepts spans again dropped=2"), "{log}");
}

#[test]
fn export_is_retried_after_503() {
    let dir = TestDir::new();
    let collector = Collector::with_response("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1");
    let observed = serve(&dir, &collector.url());
    assert_eq!(get(&observed), 200);
    let first = collector.next();
    collector.set_response(Collector::OK);
    assert_eq!(collector.next().body, first.body);
    observed.wait_for_metric("catalogue_spans_exported_total", 1.0);
    assert_eq!(observed.metrics()["catalogue_spans_dropped_total"], 0.0);
}
