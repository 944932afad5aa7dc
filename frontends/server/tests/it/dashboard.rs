//! The dashboard for Grafana asks for nothing that is not there.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::observed::Observed;
use crate::program::TestDir;

/// The names of metrics in the dashboard's queries.
pub(crate) fn queried() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/dashboards/catalogue.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(!queries.is_empty());
    let words = queries.iter().flat_map(|query| query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let of_ours = |word: &&str| ["catalogue_", "process_"].iter().any(|prefix| word.starts_with(prefix));
    words.filter(of_ours).map(str::to_owned).collect()
}

/// Returns the names of the metrics of a server.
pub(crate) fn displayed(observed: &Observed) -> BTreeSet<String> {
    observed.metrics().keys().map(|sample| sample.split('{').next().unwrap().to_owned()).collect()
}

/// Metrics of PostgreSQL and of certificates have tests next to those of PostgreSQL and HTTPS.
#[cfg(target_os = "linux")]
#[test]
fn it_queries_only_metrics_that_exist() {
    let dir = TestDir::new();
    let observed = Observed::start(&dir, "--rate-limit 600/1m");
    let of_others = ["catalogue_database_", "catalogue_replica_", "catalogue_tls_"];
    let elsewhere = |name: &String| of_others.iter().any(|kind| name.starts_with(kind));
    let queried: BTreeSet<_> = queried().into_iter().filter(|name| !elsewhere(name)).collect();
    assert!(queried.len() > 15, "{queried:?}");
    let missing: Vec<_> = queried.difference(&displayed(&observed)).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}
