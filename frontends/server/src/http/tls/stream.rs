//! TLS as a transport of HTTP.

use std::{
    io::{self, BufRead, ErrorKind, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::server::TlsStream;

use super::super::{socket::Socket, stream::Transport};

/// A connection that has shaken hands.
pub(in super::super) struct Secured(pub(in super::super) TlsStream<Socket>);

impl Secured {
    /// Whether the client has chosen HTTP/2.
    pub(in super::super) fn is_http2(&self) -> bool {
        self.0.get_ref().1.alpn_protocol() == Some(super::HTTP_2)
    }
}

impl Transport for Secured {
    fn has_unread(&mut self) -> bool {
        let (socket, session) = self.0.get_mut();
        socket.has_unread() || session.reader().fill_buf().is_ok_and(|bytes| !bytes.is_empty())
    }

    fn socket(&mut self) -> &mut Socket {
        self.0.get_mut().0
    }
}

impl AsyncRead for Secured {
    /// Many clients close without saying so in TLS. That ends what they send like any other end: where a request ends,
    /// HTTP itself says.
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.0).poll_read(cx, buf)) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            outcome => Poll::Ready(outcome),
        }
    }
}

impl AsyncWrite for Secured {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
