//! The socket of a connection: records whether it accepts writes, and closes so that the last response arrives.

use std::io::{self, BufRead, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::ConnectionState;

const DISCARD_BUFFER_BYTES: usize = 8 * 1024;

/// Maximum length of writes to coalesce: up to it, a copy and one `send` are faster than a `writev` of the parts.
const COALESCE_MAX: usize = 4 * 1024;

/// Transport of HTTP: a socket, or TLS over one.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    /// Returns whether bytes have arrived that were not read yet.
    fn has_unread(&mut self) -> bool;
}

/// A client's socket, below TLS or without it.
pub(crate) struct Socket {
    pub(super) tcp: TcpStream,
    state: Arc<ConnectionState>,
    /// Whether the socket currently accepts no writes.
    is_blocked: bool,
}

impl Socket {
    pub(super) fn new(tcp: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { tcp, state, is_blocked: false }
    }
}

impl Transport for Socket {
    /// Queries the socket itself, because the runtime may not know of the bytes yet.
    fn has_unread(&mut self) -> bool {
        SockRef::from(&self.tcp).peek(&mut [MaybeUninit::uninit()]).is_ok_and(|bytes| bytes > 0)
    }
}

impl Transport for TlsStream<Socket> {
    fn has_unread(&mut self) -> bool {
        let (socket, session) = self.get_mut();
        socket.has_unread() || session.reader().fill_buf().is_ok_and(|bytes| !bytes.is_empty())
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { tcp, state, is_blocked } = self.get_mut();
        let tcp = Pin::new(tcp);
        let outcome = match bufs {
            [buf] => tcp.poll_write(cx, buf),
            _ if bufs.iter().map(|buf| buf.len()).sum::<usize>() <= COALESCE_MAX => {
                let mut space = [MaybeUninit::uninit(); COALESCE_MAX];
                let mut coalesced = ReadBuf::uninit(&mut space);
                bufs.iter().for_each(|buf| coalesced.put_slice(buf));
                tcp.poll_write(cx, coalesced.filled())
            }
            _ => tcp.poll_write_vectored(cx, bufs),
        };
        if *is_blocked != outcome.is_pending() {
            *is_blocked = outcome.is_pending();
            state.lock().block(*is_blocked);
        }
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes the server's side, then reads to the end of the client's: a reset for unread bytes could overtake the response.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.state.lock().is_closed() {
            ready!(Pin::new(&mut self.tcp).poll_shutdown(cx))?;
            self.state.lock().close();
        }
        loop {
            let mut space = [MaybeUninit::uninit(); DISCARD_BUFFER_BYTES];
            let mut buf = ReadBuf::uninit(&mut space);
            let read = ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut buf));
            if read.is_err() || buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
