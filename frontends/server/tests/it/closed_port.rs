//! A port that refuses connections.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A loopback port that refuses connections. It stays bound until it is dropped, so that no other test's server gets the port.
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

    /// Accepts connections from now on.
    #[cfg(feature = "otel")]
    pub(crate) fn open(self) -> std::net::TcpListener {
        self.0.listen(128).unwrap();
        self.0.into()
    }
}
