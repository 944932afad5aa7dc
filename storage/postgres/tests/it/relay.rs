//! A relay in front of a server, which can drop or hold its connections.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// State of a server as its clients observe it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    Up,
    Dead,
    Unresponsive,
}

/// A relay on a loopback address, which is up at first.
pub(crate) struct Relay {
    pub(crate) port: u16,
    state: watch::Sender<State>,
}

impl Relay {
    /// Starts a relay to the server to which `connect` connects.
    pub(crate) async fn start<S, F>(connect: impl Fn() -> F + Send + 'static) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, states) = watch::channel(State::Up);
        tokio::spawn(serve(listener, connect, states));
        Self { port, state }
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.send(state).unwrap();
    }
}

/// Forwards bytes while the server is up. While it is dead, closes existing and new connections.
async fn serve<S, F>(listener: TcpListener, connect: impl Fn() -> F, mut states: watch::Receiver<State>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    F: Future<Output = io::Result<S>> + Send + 'static,
{
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut changed = states.clone();
        if *states.borrow_and_update() == State::Dead {
            continue;
        }
        let connecting = connect();
        tokio::spawn(async move {
            // While the server is unresponsive, incoming bytes wait.
            if changed.wait_for(|state| *state != State::Unresponsive).await.is_err() {
                return;
            }
            let mut server = connecting.await.unwrap();
            while *changed.borrow_and_update() != State::Dead {
                tokio::select! {
                    biased;
                    _ = changed.changed() => {
                        let is_closed = changed.wait_for(|state| *state != State::Unresponsive).await.is_err();
                        if is_closed {
                            return;
                        }
                    }
                    _ = copy_bidirectional(&mut client, &mut server) => return,
                }
            }
        });
    }
}
