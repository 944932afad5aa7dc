//! The metrics that the Grafana dashboard queries.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::observed::Observed;
use crate::program::TestDir;

/// Returns the names of the metrics in the dashboard's queries.
pub(crate) fn queried_metrics() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/dashboards/catalogue.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(!queries.is_empty());
    let words = queries.iter().flat_map(|query| query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let is_own_metric = |word: &&str| ["catalogue_", "process_"].iter().any(|prefix| word.starts_with(prefix));
    words.filter(is_own_metric).map(str::to_owned).collect()
}

/// Returns the names of the metrics that a server exports.
pub(crate) fn exported_metrics(observed: &Observed) -> BTreeSet<String> {
    observed.metrics().keys().map(|sample| sample.split('{').next().unwrap().to_owned()).collect()
}

/// Skips the metrics of PostgreSQL and of certificates, which the tests of PostgreSQL and HTTPS check.
#[cfg(target_os = "linux")]
#[test]
fn dashboard_queries_only_existing_metrics() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--rate-limit 600/1m");
    let tested_elsewhere = ["catalogue_database_", "catalogue_replica_", "catalogue_tls_"];
    let elsewhere = |name: &String| tested_elsewhere.iter().any(|kind| name.starts_with(kind));
    let queried: BTreeSet<_> = queried_metrics().into_iter().filter(|name| !elsewhere(name)).collect();
    assert!(queried.len() > 15, "{queried:?}");
    let missing: Vec<_> = queried.difference(&exported_metrics(&observed)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}
