//! A worker that the cluster reaches through a proxy in this process, which can drop or hold its connections.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::watch;
use tokio_postgres::Client;

/// State of a worker as its clients observe it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Up,
    Dead,
    Unresponsive,
}

/// A worker behind a proxy in this process.
pub(super) struct Worker {
    pub(super) group: i32,
    pub(super) id: i32,
    /// Host and port of the worker itself.
    pub(super) at: (String, i32),
    port: u16,
    state: watch::Sender<State>,
}

impl Worker {
    /// Returns the worker that would have the account with the empty id, which every server reads at startup. From now on, the
    /// cluster reaches the worker through this process.
    pub(super) async fn with_unnamed_account(host: &Client) -> Self {
        let worker = "SELECT n.nodeid, n.groupid, n.nodename, n.nodeport FROM pg_dist_node AS n \
                      JOIN pg_dist_placement AS p ON p.groupid = n.groupid \
                      WHERE n.groupid > 0 AND p.shardid = get_shard_id_for_distribution_column('accounts', CAST('' AS TEXT))";
        let row = host.query_one(worker, &[]).await.unwrap();
        let (id, group, at) = (row.get(0), row.get(1), (row.get(2), row.get(3)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, states) = watch::channel(State::Up);
        tokio::spawn(serve(listener, format!("{}:{}", at.0, at.1), states));
        let worker = Self { group, id, at, port, state };
        worker.route_to(host, "127.0.0.1", i32::from(worker.port)).await;
        worker
    }

    /// Changes the address at which the cluster reaches the worker.
    pub(super) async fn route_to(&self, host: &Client, name: &str, port: i32) {
        let id = self.id;
        let update = format!("SELECT citus_update_node({id}, '{name}', {port}, force => true, lock_cooldown => 100)");
        host.batch_execute(&update).await.unwrap();
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.send(state).unwrap();
    }
}

/// Forwards bytes while the worker is up. While it is dead, closes existing and new connections.
async fn serve(listener: TcpListener, worker: String, mut states: watch::Receiver<State>) {
    let address: SocketAddr = lookup_host(&worker).await.unwrap().next().unwrap();
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut changed = states.clone();
        if *states.borrow_and_update() == State::Dead {
            continue;
        }
        tokio::spawn(async move {
            // While the worker is unresponsive, incoming bytes wait.
            if changed.wait_for(|state| *state != State::Unresponsive).await.is_err() {
                return;
            }
            let mut server = TcpStream::connect(address).await.unwrap();
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
