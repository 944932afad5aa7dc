//! The bytes of HTTP, noted as they pass.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{activity::Activity, socket::Socket};

/// What carries HTTP: a socket, or TLS over one.
pub(super) trait Transport: AsyncRead + AsyncWrite + Unpin {
    /// Whether bytes have arrived that were not read yet.
    fn has_unread(&mut self) -> bool;

    /// The socket at the bottom.
    fn socket(&mut self) -> &mut Socket;
}

/// A transport whose bytes are noted.
pub(super) struct WatchedStream<T> {
    transport: T,
    activity: Arc<Activity>,
    framed: bool,
    /// The longest request line that may be part of a head.
    longest_line: usize,
    /// The last byte that came in ended a line.
    line_ended: bool,
}

impl<T: Transport> WatchedStream<T> {
    /// Notes in `activity` what comes in over `transport`, whose heads have `head_bytes` at most.
    pub(super) fn new(transport: T, activity: Arc<Activity>, head_bytes: usize) -> Self {
        // One byte less than where hyper gives up, which cannot tell a long line from many fields.
        Self { transport, activity, framed: false, longest_line: head_bytes.saturating_sub(1), line_ended: true }
    }

    /// The same for HTTP/2, whose frames are noted in both directions.
    pub(super) fn framed(transport: T, activity: Arc<Activity>) -> Self {
        Self { framed: true, ..Self::new(transport, activity, usize::MAX) }
    }

    /// The socket at the bottom.
    pub(super) fn socket(&mut self) -> &mut Socket {
        self.transport.socket()
    }

    /// Tells a client of HTTP/2 why the connection ends that costs too much, as far as it can be told at once. What it
    /// has sent is for nobody: the watchdog ends the connection in this turn.
    fn calm(&mut self, cx: &mut Context<'_>) {
        if let Some(goodbye) = self.activity.with_streams(|streams| streams.calming()).flatten()
            && Pin::new(&mut self.transport).poll_write(cx, &goodbye).is_ready()
        {
            let _ = Pin::new(&mut self.transport).poll_flush(cx);
        }
    }
}

impl<T: Transport> AsyncRead for WatchedStream<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let over = if self.framed {
            self.activity.with_streams(|streams| streams.ends_turn()) == Some(true)
        } else {
            self.activity.ends_turn()
        };
        if over {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.framed && self.activity.with_streams(|streams| streams.is_given_up()) == Some(true) {
            self.calm(cx);
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let room =
            if self.line_ended || self.framed { usize::MAX } else { self.activity.line_room(self.longest_line, cx) };
        if room == 0 {
            // The watchdog ends the connection in this turn, or when the answers before are out.
            return Poll::Pending;
        }
        if room < buf.remaining() {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(room));
            ready!(Pin::new(&mut self.transport).poll_read(cx, &mut part))?;
            let read = part.filled().len();
            buf.advance(read);
        } else {
            ready!(Pin::new(&mut self.transport).poll_read(cx, buf))?;
        }
        let read = &buf.filled()[before..];
        if let Some(last) = read.last() {
            self.activity.read(read);
            self.line_ended = *last == b'\n';
        }
        if self.framed && self.activity.with_streams(|streams| streams.overdrawn()).flatten().is_some() {
            buf.set_filled(before);
            self.calm(cx);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Transport> AsyncWrite for WatchedStream<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.transport).poll_write(cx, buf))?;
        if self.framed {
            self.activity.sent(&buf[..written]);
        }
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.transport).poll_write_vectored(cx, bufs))?;
        if self.framed {
            let mut left = written;
            for buf in bufs {
                let length = buf.len().min(left);
                self.activity.sent(&buf[..length]);
                left -= length;
            }
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    /// hyper flushes at each turn of the connection, idle or not: the place to look for requests that a stopping
    /// server would lose.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.activity.is_stopping() {
            let unread = self.transport.has_unread();
            self.activity.set_unread(unread);
        }
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(cx)
    }
}
