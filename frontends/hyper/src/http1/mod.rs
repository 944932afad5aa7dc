//! HTTP/1: hyper's connection with the limits that it leaves open.

mod line_tracker;
mod request_body;
mod service;
mod state;

use std::pin::Pin;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;

pub(crate) use request_body::RequestBody;
pub(crate) use state::Http1State;

use crate::close_reason::Interrupt;
use crate::connection::{OpenConnection, TrackedIo, Transport};
use crate::service::TowerService;
use crate::{CloseReason, Limits};

/// Serves HTTP/1 until one of the sides closes the connection, or the timer does.
pub(crate) async fn serve<T: Transport, S: TowerService>(transport: T, mut open: OpenConnection, service: S) {
    let state = open.state.clone();
    let io = TrackedIo::new(transport, state.clone());
    let service = service::new(service, state.clone());
    let builder = builder(&state.config.limits);
    let mut connection = builder.serve_connection(TokioIo::new(io), service);

    let outcome = loop {
        let outcome = open.timer.run(|cx| Pin::new(&mut connection).poll(cx)).await;
        if !matches!(outcome, Err(Interrupt::LargeBuffer)) {
            break outcome;
        }
        tracing::debug!(peer = %state.peer.address, "gives back the memory that a large request took");
        let mut parts = connection.into_parts();
        parts.io.inner_mut().push_back(parts.read_buf);
        connection = builder.serve_connection(parts.io, parts.service);
    };
    open.end(&outcome, |_| CloseReason::Failed);
    let refusal = match &outcome {
        // hyper refuses the preface of HTTP/2 without a response, and would take a long line for fields that are too large.
        Ok(Err(error)) if error.is_parse() => Some("400 Bad Request"),
        Err(Interrupt::LongLine) => Some("414 URI Too Long"),
        _ => None,
    };
    if refusal.is_some() {
        state.config.metrics.malformed.add();
    }
    // hyper has closed it itself, except after the preface of HTTP/2, an error of the socket, and a wish to upgrade.
    if state.lock().is_closed() || (matches!(outcome, Ok(Err(_))) && refusal.is_none()) {
        return;
    }
    let mut io = connection.into_parts().io.into_inner();
    // Bytes of a body may be on their way, and would reset the connection.
    let expects_body = state.http1(|http1, _| http1.body.is_some()) == Some(true);
    if refusal.is_none() && !expects_body {
        state.lock().linger_at_most(0);
    }
    let response = refusal.map(|status| format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"));
    open.close(&mut io, response.unwrap_or_default().as_bytes()).await;
}

/// hyper without its timer, which cannot tell a slow head from an idle connection.
fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .half_close(true)
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(8 * 1024));
    // hyper has room for 100 on the stack unless it is told a number, and then asks the allocator.
    if limits.header_fields != 100 {
        builder.max_headers(limits.header_fields);
    }
    builder
}
