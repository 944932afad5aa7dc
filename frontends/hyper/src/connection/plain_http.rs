//! Plain HTTP on a port for TLS: the client gets a response that it can read.

use std::task::Context;

use tokio::io::ReadBuf;

use super::{OpenConnection, Socket};
use crate::CloseReason;

const RESPONSE: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 61\r\n\r\n\
    This port speaks HTTPS only; use https:// instead of http://\n";

/// Waits for the first byte, and responds if it begins an HTTP method: no TLS record begins with a letter. Returns
/// `true` if the connection has ended.
pub(super) async fn refuse(open: &mut OpenConnection, socket: &mut Socket) -> bool {
    let mut first = [0];
    let peek = |cx: &mut Context<'_>| socket.tcp.poll_peek(cx, &mut ReadBuf::new(&mut first));
    let peeked = open.timer.run(peek).await;
    if peeked.is_err() {
        open.end(&peeked, CloseReason::HandshakeFailed);
        return true;
    }
    if !first[0].is_ascii_alphabetic() {
        return false;
    }
    open.end::<(), _>(&Ok(Err("the client speaks plain HTTP")), CloseReason::HandshakeFailed);
    open.close(socket, RESPONSE).await;
    true
}
