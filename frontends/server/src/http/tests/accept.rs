//! Accepts that fail.

use std::{future::ready, io};

use super::super::accept::retried;
use super::support::soon;

#[tokio::test]
async fn failures_are_tried_again() {
    // EMFILE, ENFILE and an aborted connection.
    let mut failures = vec![
        io::Error::from_raw_os_error(24),
        io::ErrorKind::ConnectionAborted.into(),
        io::Error::from_raw_os_error(23),
    ];
    let accepted = soon(retried(|| ready(failures.pop().map_or(Ok("accepted"), Err)))).await;
    assert_eq!(accepted, "accepted");
}
