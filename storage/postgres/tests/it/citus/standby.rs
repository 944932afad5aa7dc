//! A dedicated worker that the test adds to the cluster and removes: shards move to it under load, it dies, and its
//! standby takes over.

use std::panic::resume_unwind;
use std::path::Path;

use catalogue_core::storage::{CourseStorage as _, StorageErrorKind};
use catalogue_postgres::PostgresStorage;
use catalogue_postgres_cluster::Cluster;
use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};
use tokio_postgres::Client;

use super::cluster::Citus;
use super::nodes::{Owner, import, open};
use crate::schema::connect;
use crate::stress::wait_until;

/// A node on this machine, created by the cluster's own programs.
struct Node {
    cluster: Cluster,
    port: u16,
}

impl Node {
    async fn start(host: &Client) -> Self {
        let programs = text(host, "SELECT setting FROM pg_config WHERE name = 'BINDIR'").await;
        let security = text(host, "SHOW citus.node_conninfo").await;
        let cluster = Cluster::start_with_programs(Path::new(&programs)).unwrap();
        let security = format!("citus.node_conninfo = '{security}'");
        let port = cluster.listen(&["shared_preload_libraries = 'citus'", "wal_level = logical", &security]);
        let database = text(host, "SELECT CAST(current_database() AS TEXT)").await;
        let node = Self { cluster, port };
        node.session("postgres").await.batch_execute(&format!("CREATE DATABASE {database}")).await.unwrap();
        node.session(&database).await.batch_execute("CREATE EXTENSION citus").await.unwrap();
        node
    }

    fn standby(&self) -> Self {
        let cluster = self.cluster.standby().unwrap();
        let port = cluster.listen(&[]);
        Self { cluster, port }
    }

    async fn session(&self, database: &str) -> Client {
        let address = format!("host=127.0.0.1 port={} user=postgres dbname={database}", self.port);
        connect(&address).await
    }
}

async fn text(client: &Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Returns the accounts on the node, and the others.
async fn on_and_off(host: &Client, owners: Vec<Owner>, node: i32) -> [Vec<Owner>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    let on = "SELECT count(*) FROM pg_dist_placement AS p JOIN pg_dist_node AS n ON n.groupid = p.groupid \
              WHERE n.nodeid = $2 AND p.shardid = get_shard_id_for_distribution_column('accounts', CAST($1 AS TEXT))";
    for owner in owners {
        let is_on: i64 = host.query_one(on, &[&owner.account.as_str(), &node]).await.unwrap().get(0);
        found[usize::from(is_on == 0)].push(owner);
    }
    found
}

/// Moves shards to the emptier node, while courses of all accounts are read and changed.
async fn rebalance(mover: &Client, storage: &PostgresStorage, owners: &[Owner]) {
    let (done, is_done) = watch::channel(false);
    let moving = async {
        mover.batch_execute("SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')").await.unwrap();
        mover.batch_execute("SELECT citus_rebalance_wait()").await.unwrap();
        done.send(true).unwrap();
    };
    let load = async {
        let mut count = 0;
        while !*is_done.borrow() {
            for owner in owners {
                owner.read(storage).await.unwrap();
                import(storage, &owner.account, &format!("course-{count}")).await.unwrap();
            }
            count += 1;
        }
        count
    };
    let ((), count) = tokio::join!(moving, load);
    assert!(count > 1, "{count} rounds");
}

/// Runs the checks with `node`, which has the number `id` in the cluster.
async fn check(host: Client, mover: Client, storage: PostgresStorage, owners: Vec<Owner>, node: Node, id: i32) {
    rebalance(&mover, &storage, &owners).await;
    let [on, off] = on_and_off(&host, owners, id).await;
    let (affected, unaffected) = (on.first().expect("accounts moved"), off.first().expect("accounts stayed"));
    let standby = node.standby();
    import(&storage, &affected.account, "after-the-copy").await.unwrap();
    let database = text(&host, "SELECT CAST(current_database() AS TEXT)").await;
    let target_position =
        text(&node.session(&database).await, "SELECT CAST(pg_current_wal_insert_lsn() AS TEXT)").await;
    let follower = standby.session(&database).await;
    let has_all = format!("SELECT CAST(pg_last_wal_replay_lsn() >= '{target_position}' AS TEXT)");
    wait_until(async || text(&follower, &has_all).await == "true").await;

    node.cluster.kill();
    assert_eq!(affected.read(&storage).await.unwrap_err().kind(), StorageErrorKind::Unavailable);
    unaffected.read(&storage).await.unwrap();
    standby.cluster.control(&["promote"]);
    let port = standby.port;
    let update = format!("SELECT citus_update_node({id}, '127.0.0.1', {port}, force => true, lock_cooldown => 100)");
    host.batch_execute(&update).await.unwrap();
    for owner in on.iter().chain(&off) {
        owner.read(&storage).await.unwrap();
    }
    assert!(storage.find_course(&affected.account, "after-the-copy").await.unwrap().value.is_some());
    import(&storage, &affected.account, "after-the-change").await.unwrap();
    affected.revoke(&storage).await.unwrap();
    // The cluster must be able to change its tables on the node before the node is removed.
    remove_node(&host, id).await;
}

/// Removes the test's tables, and the node.
async fn remove_node(host: &Client, id: i32) {
    let schema = text(host, "SELECT CAST(current_schema() AS TEXT)").await;
    host.batch_execute("SELECT start_metadata_sync_to_all_nodes()").await.unwrap();
    host.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
    let at = format!("FROM pg_dist_node WHERE nodeid = {id}");
    host.batch_execute(&format!("SELECT citus_drain_node(nodename, nodeport, 'block_writes') {at}")).await.unwrap();
    host.batch_execute(&format!("SELECT citus_remove_node(nodename, nodeport) {at}")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn added_worker_takes_shards_and_its_standby_takes_over() {
    let Some(citus) = Citus::new().await else { return };
    let (storage, host) = (open(&citus).await, citus.host().await);
    let mut owners = Vec::new();
    for number in 0..8 {
        owners.push(Owner::new(&storage, &format!("account_{number}")).await);
    }
    let node = Node::start(&host).await;
    let id: i32 =
        host.query_one("SELECT citus_add_node('127.0.0.1', $1)", &[&i32::from(node.port)]).await.unwrap().get(0);
    let checks = check(citus.host().await, citus.host().await, storage, owners, node, id);
    if let Err(failure) = LocalSet::new().run_until(async { spawn_local(checks).await }).await {
        // Disable the node, whatever its state: no later run removes it.
        let disable = format!("SELECT citus_disable_node(nodename, nodeport) FROM pg_dist_node WHERE nodeid = {id}");
        let _ = host.batch_execute(&disable).await;
        resume_unwind(failure.into_panic());
    }
}
