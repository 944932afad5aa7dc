//! Tables that are spread over nodes by account, on a cluster of Citus that is there.
//!
//! `CATALOGUE_TEST_CITUS=postgres://…` names its coordinator, as a role that may make schemas and change nodes. What another
//! PostgreSQL can show of it, the suite `with_tables_for_citus` and the rules in `statements` show always.

pub(crate) mod cluster;

mod nodes;
mod plans;
mod spreading;

use crate::same_as_sqlite::assert_same_bodies;
use cluster::Citus;

#[tokio::test]
async fn every_body_is_that_of_sqlite() {
    let Some(citus) = Citus::new().await else { return };
    assert_same_bodies(citus.storage().await).await;
}
