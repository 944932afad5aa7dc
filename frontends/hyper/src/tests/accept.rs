//! Accepts that fail.

use std::future::ready;
use std::io;

use super::super::ConnectionMetrics;
use super::super::listener::accept_with_retry;
use super::log::capture_log;
use super::support::with_timeout;

/// Accepts after these `failures`, and asserts that the metrics count those of the server, which have an OS error.
async fn accept_after(failing: &mut bool, mut failures: Vec<io::Error>) {
    let (metrics, expected) =
        (ConnectionMetrics::default(), failures.iter().filter(|error| error.raw_os_error().is_some()).count());
    let accepted =
        with_timeout(accept_with_retry(failing, &metrics, || ready(failures.pop().map_or(Ok("accepted"), Err)))).await;
    assert_eq!(accepted, "accepted");
    assert_eq!(metrics.accept_failures(), expected as u64);
}

fn too_many_open_files() -> io::Error {
    io::Error::from_raw_os_error(24)
}

#[tokio::test]
async fn failed_accept_is_retried() {
    // 23 is ENFILE: too many files are open on the system.
    let failures =
        vec![too_many_open_files(), io::ErrorKind::ConnectionAborted.into(), io::Error::from_raw_os_error(23)];
    accept_after(&mut false, failures).await;
}

#[tokio::test]
async fn repeated_failures_are_logged_once() {
    let (log, _guard) = capture_log();
    let warning_count = || log.text().matches("cannot accept").count();

    let mut failing = false;
    accept_after(&mut failing, vec![too_many_open_files(), too_many_open_files()]).await;
    accept_after(&mut failing, vec![too_many_open_files()]).await;
    assert_eq!(warning_count(), 1);
    accept_after(&mut failing, Vec::new()).await;
    accept_after(&mut failing, vec![too_many_open_files()]).await;
    assert_eq!(warning_count(), 2);
}
