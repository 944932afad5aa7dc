//! A port of a server that is away.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A port of the loopback address that refuses connections. It is taken as long as this lives, so that no other test's
/// server gets it and answers.
pub(crate) struct ClosedPort(Socket);

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        Self(socket)
    }

    pub(crate) fn number(&self) -> u16 {
        self.0.local_addr().unwrap().as_socket().unwrap().port()
    }

    /// From now on it takes connections.
    #[cfg(feature = "otel")]
    pub(crate) fn open(self) -> std::net::TcpListener {
        self.0.listen(128).unwrap();
        self.0.into()
    }
}
