//! TLS as a transport of HTTP.

use std::io::BufRead;

use tokio_rustls::server::TlsStream;

use crate::connection::{Socket, Transport};

impl Transport for TlsStream<Socket> {
    fn has_unread(&mut self) -> bool {
        let (socket, session) = self.get_mut();
        socket.has_unread() || session.reader().fill_buf().is_ok_and(|bytes| !bytes.is_empty())
    }
}
