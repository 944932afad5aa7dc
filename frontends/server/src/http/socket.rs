//! The socket of a connection: notes what goes out through it, and closes in a way that lets the last answer arrive.

use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{activity::Activity, stream::Transport};

/// How much is thrown away at once.
const DISCARDED: usize = 8 * 1024;

/// A client's socket, beneath TLS or without it.
pub(super) struct Socket {
    tcp: TcpStream,
    activity: Arc<Activity>,
    linger_bytes: u64,
    /// The first bytes are those of a handshake.
    greeting: bool,
}

impl Socket {
    /// After its shutdown the socket reads `linger_bytes` more at most.
    pub(super) fn new(tcp: TcpStream, activity: Arc<Activity>, linger_bytes: u64) -> Self {
        Self { tcp, activity, linger_bytes, greeting: false }
    }

    /// The same beneath TLS.
    pub(super) fn beneath_tls(tcp: TcpStream, activity: Arc<Activity>, linger_bytes: u64) -> Self {
        Self { greeting: true, ..Self::new(tcp, activity, linger_bytes) }
    }

    /// Sets a lower bound for what is read after the shutdown. With 0 the shutdown does not wait for the client's.
    pub(super) fn linger_at_most(&mut self, bytes: u64) {
        self.linger_bytes = self.linger_bytes.min(bytes);
    }

    fn note_write(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match outcome {
            Poll::Ready(Ok(bytes)) => self.activity.wrote(bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.blocked(),
        }
        outcome
    }
}

impl Transport for Socket {
    /// The socket itself is asked, because the runtime may not have heard of them yet.
    fn has_unread(&mut self) -> bool {
        SockRef::from(&self.tcp).peek(&mut [MaybeUninit::uninit()]).is_ok_and(|bytes| bytes > 0)
    }

    fn socket(&mut self) -> &mut Socket {
        self
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(cx, buf))?;
        if self.greeting && buf.filled().len() > before {
            self.greeting = false;
            self.activity.greeted();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.tcp).poll_write(cx, buf);
        self.note_write(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs);
        self.note_write(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Closes our side, then reads until the client has closed its own. A socket that is closed with bytes unread
    /// is reset, and the reset can overtake the answer. The watchdog bounds the time.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.activity.is_closed() {
            ready!(Pin::new(&mut self.tcp).poll_shutdown(cx))?;
            self.activity.close();
        }
        while self.linger_bytes > 0 {
            let mut space = [MaybeUninit::uninit(); DISCARDED];
            let mut buf = ReadBuf::uninit(&mut space);
            let read = ready!(Pin::new(&mut self.tcp).poll_read(cx, &mut buf));
            if read.is_err() || buf.filled().is_empty() {
                break;
            }
            self.activity.discarded();
            self.linger_bytes = self.linger_bytes.saturating_sub(buf.filled().len() as u64);
        }
        Poll::Ready(Ok(()))
    }
}
