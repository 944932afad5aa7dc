//! [`TrackedIo`]: a transport whose bytes are noted in the connection's state as they pass.

use std::io::{self, ErrorKind, IoSlice};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::ConnectionState;
use super::socket::Transport;

pub(crate) struct TrackedIo<T> {
    pub(crate) transport: T,
    state: Arc<ConnectionState>,
    /// What was read and noted before, and comes first.
    rest: Bytes,
    /// On HTTP/1: one byte less than where hyper gives up, which cannot tell a long line from many fields.
    longest_line: Option<usize>,
}

impl<T: Transport> TrackedIo<T> {
    pub(crate) fn new(transport: T, state: Arc<ConnectionState>) -> Self {
        let longest_line = state.http1(|_, _| state.config.limits.head_bytes.saturating_sub(1));
        Self { transport, state, rest: Bytes::new(), longest_line }
    }

    /// Takes back what was read and not made use of.
    pub(crate) fn push_back(&mut self, rest: Bytes) {
        // Before what an earlier call has left. A copy, since even an empty part of hyper's buffer would keep all of it.
        self.rest = [rest, mem::take(&mut self.rest)].concat().into();
        if !self.rest.is_empty() {
            self.state.http1(|http1, last_io| http1.begin_head_with(self.rest.len(), last_io));
        }
    }
}

impl<T: Transport> AsyncRead for TrackedIo<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.rest.is_empty() {
            let length = self.rest.len().min(buf.remaining());
            buf.put_slice(&self.rest.split_to(length));
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let size = buf.remaining();
        let room = self
            .longest_line
            .and_then(|longest_line| self.state.http1(|http1, last_io| http1.room(size, longest_line, cx, last_io)));
        match room.unwrap_or(size) {
            0 => return Poll::Pending,
            room if room < size => {
                let mut part = ReadBuf::new(buf.initialize_unfilled_to(room));
                ready!(Pin::new(&mut self.transport).poll_read(cx, &mut part))?;
                let read = part.filled().len();
                buf.advance(read);
            }
            _ => match ready!(Pin::new(&mut self.transport).poll_read(cx, buf)) {
                // Many clients close without saying so in TLS. Where a request ends, HTTP itself says.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
                outcome => outcome?,
            },
        }
        let read = &buf.filled()[before..];
        if !read.is_empty() {
            self.state.lock().received(read);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Transport> AsyncWrite for TrackedIo<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().transport).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    /// hyper flushes at each turn, idle or not: the place to look for requests that a server that stops would lose.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state.shutdown.end_of_grace().is_some() {
            let bytes_waiting = self.transport.has_unread();
            self.state.lock().bytes_waiting = bytes_waiting;
        }
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(cx)
    }
}
