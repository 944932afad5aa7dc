//! A worker that the cluster asks by way of this process, which can end or hold what is said.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::watch;
use tokio_postgres::Client;

/// What a worker is to those that ask it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    There,
    Dead,
    Silent,
}

/// A worker behind this process.
pub(super) struct Worker {
    pub(super) group: i32,
    pub(super) id: i32,
    /// Where it is in truth.
    pub(super) at: (String, i32),
    port: u16,
    state: watch::Sender<State>,
}

impl Worker {
    /// The one that would have the account without a name, which a server asks for when it starts. The cluster asks it by way
    /// of this process from now on.
    pub(super) async fn with_unnamed_account(host: &Client) -> Self {
        let worker = "SELECT n.nodeid, n.groupid, n.nodename, n.nodeport FROM pg_dist_node AS n \
                      JOIN pg_dist_placement AS p ON p.groupid = n.groupid \
                      WHERE n.groupid > 0 AND p.shardid = get_shard_id_for_distribution_column('accounts', CAST('' AS TEXT))";
        let row = host.query_one(worker, &[]).await.unwrap();
        let (id, group, at) = (row.get(0), row.get(1), (row.get(2), row.get(3)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (state, states) = watch::channel(State::There);
        tokio::spawn(serve(listener, format!("{}:{}", at.0, at.1), states));
        let worker = Self { group, id, at, port, state };
        worker.route_to(host, "127.0.0.1", i32::from(worker.port)).await;
        worker
    }

    /// Has the cluster ask it there.
    pub(super) async fn route_to(&self, host: &Client, name: &str, port: i32) {
        let id = self.id;
        let update = format!("SELECT citus_update_node({id}, '{name}', {port}, force => true, lock_cooldown => 100)");
        host.batch_execute(&update).await.unwrap();
    }

    pub(super) fn is(&self, state: State) {
        self.state.send(state).unwrap();
    }
}

/// Hands on what is said as long as the worker is there. A dead one ends what is open, and takes nothing new.
async fn serve(listener: TcpListener, worker: String, mut states: watch::Receiver<State>) {
    let address: SocketAddr = lookup_host(&worker).await.unwrap().next().unwrap();
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut changed = states.clone();
        if *states.borrow_and_update() == State::Dead {
            continue;
        }
        tokio::spawn(async move {
            // Silent: what comes waits.
            if changed.wait_for(|state| *state != State::Silent).await.is_err() {
                return;
            }
            let mut server = TcpStream::connect(address).await.unwrap();
            while *changed.borrow_and_update() != State::Dead {
                tokio::select! {
                    biased;
                    _ = changed.changed() => {
                        let is_over = changed.wait_for(|state| *state != State::Silent).await.is_err();
                        if is_over {
                            return;
                        }
                    }
                    _ = copy_bidirectional(&mut client, &mut server) => return,
                }
            }
        });
    }
}
