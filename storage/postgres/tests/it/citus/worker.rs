//! A worker that the cluster reaches through a relay in this process, which can drop or hold its connections.

use tokio::net::{TcpStream, lookup_host};
use tokio_postgres::Client;

use crate::relay::Relay;

/// A worker behind a relay in this process.
pub(super) struct Worker {
    pub(super) group: i32,
    pub(super) id: i32,
    /// Host and port of the worker itself.
    pub(super) at: (String, i32),
    pub(super) relay: Relay,
}

impl Worker {
    /// Returns the worker that would have the account with the empty id, which every server reads at startup. From now on, the
    /// cluster reaches the worker through this process.
    pub(super) async fn with_unnamed_account(host: &Client) -> Self {
        let worker = "SELECT n.nodeid, n.groupid, n.nodename, n.nodeport FROM pg_dist_node AS n \
                      JOIN pg_dist_placement AS p ON p.groupid = n.groupid \
                      WHERE n.groupid > 0 AND p.shardid = get_shard_id_for_distribution_column('accounts', CAST('' AS TEXT))";
        let row = host.query_one(worker, &[]).await.unwrap();
        let (id, group, at): (_, _, (String, i32)) = (row.get(0), row.get(1), (row.get(2), row.get(3)));
        let address = lookup_host(format!("{}:{}", at.0, at.1)).await.unwrap().next().unwrap();
        let relay = Relay::start(move || TcpStream::connect(address)).await;
        let worker = Self { group, id, at, relay };
        worker.route_to(host, "127.0.0.1", i32::from(worker.relay.port)).await;
        worker
    }

    /// Changes the address at which the cluster reaches the worker.
    pub(super) async fn route_to(&self, host: &Client, name: &str, port: i32) {
        let id = self.id;
        let update = format!("SELECT citus_update_node({id}, '{name}', {port}, force => true, lock_cooldown => 100)");
        host.batch_execute(&update).await.unwrap();
    }
}
