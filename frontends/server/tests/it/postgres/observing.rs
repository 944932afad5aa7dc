//! Metrics with PostgreSQL.

use std::collections::BTreeSet;

use catalogue_postgres_cluster::Cluster;

use super::fixture::{Session, url};
use crate::dashboard::{exported_metrics, queried_metrics};
use crate::observed::Observed;
use crate::program::{COURSES, TestDir};

#[test]
fn pool_metrics_are_exported_and_used_by_dashboard() {
    let Some(fixture) = TestDir::postgres_with_courses() else { return };
    let observed = Observed::start(&fixture, "");
    let (_, token) = fixture.key("a");
    assert_eq!(observed.server.get("/api/v1/courses", &token).0, 200);
    let metrics = observed.metrics();
    assert_eq!(metrics["catalogue_database_up"], 1.0);
    assert_eq!(metrics[r#"catalogue_database_connections_max{server="primary"}"#], 10.0);
    assert!(metrics[r#"catalogue_database_connections_idle{server="primary"}"#] >= 1.0);
    assert_eq!(metrics[r#"catalogue_database_reads_timed_out_total{server="primary"}"#], 0.0);
    assert_dashboard_queries(&observed, "catalogue_database_");
}

/// Asserts that the dashboard queries metrics whose names start with `kind`, and that the server exports all of them.
fn assert_dashboard_queries(observed: &Observed, kind: &str) {
    let queried: BTreeSet<_> = queried_metrics().into_iter().filter(|name| name.starts_with(kind)).collect();
    assert!(!queried.is_empty() && queried.is_subset(&exported_metrics(observed)), "{queried:?}");
}

#[test]
fn replica_metrics_report_lag_and_outage() {
    if Cluster::shared().is_none() {
        return;
    }
    let primary = Cluster::start().unwrap();
    let fixture = TestDir::over(url(&primary, "postgres"));
    fixture.import(COURSES);
    let standby = primary.standby().unwrap();
    let serve = "serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --database-replica-lag 1d --database-replicas";
    let observed = Observed::start_with(&fixture, fixture.command(serve).arg(url(&standby, "postgres")));
    let (_, token) = fixture.key("a");
    let metric = |name: &str| {
        let metrics = observed.metrics();
        let of = |labelled: &&String| {
            labelled.strip_prefix(name).is_some_and(|labels| labels.starts_with('{') && !labels.contains("\"primary\""))
        };
        let found: Vec<_> = metrics.keys().filter(of).map(|name| metrics[name]).collect();
        assert!(found.len() <= 1, "{name}: {metrics:#?}");
        found.first().copied()
    };
    let becomes = |name: &str, value: f64| {
        observed.wait_until(name, || {
            assert_eq!(observed.server.get("/api/v1/courses", &token).0, 200);
            metric(name) == Some(value)
        });
    };
    becomes("catalogue_replica_read", 1.0);
    assert_eq!(metric("catalogue_replica_up"), Some(1.0));
    assert!(metric("catalogue_replica_lag_seconds").is_some_and(|lag| (0.0..86_400.0).contains(&lag)));
    assert!(metric("catalogue_database_connections_max").is_some());
    assert_dashboard_queries(&observed, "catalogue_replica_");
    assert_eq!(observed.ready().0, 200);

    // The lag of a paused replica grows.
    Session::of(&standby.address("postgres")).run("SELECT pg_wal_replay_pause()");
    let before = metric("catalogue_replica_lag_seconds").unwrap();
    observed.wait_until("a lag", || {
        fixture.import(COURSES);
        metric("catalogue_replica_lag_seconds").is_some_and(|lag| lag > before + 1.0)
    });
    standby.kill();
    becomes("catalogue_replica_up", 0.0);
    becomes("catalogue_replica_read", 0.0);
    assert_eq!(observed.metrics()["catalogue_database_up"], 1.0);
}
