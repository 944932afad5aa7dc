//! `doctor` on PostgreSQL.

use serde_json::Value;

use super::fixture::Fixture;

#[test]
fn doctor_checks_database_schema_and_clock() {
    let Some(fixture) = Fixture::new() else { return };
    let run_doctor = || {
        let outcome = fixture.run("doctor --json --max-connections 10");
        (outcome.status, serde_json::from_str::<Value>(&outcome.out).unwrap())
    };
    let found = |report: &Value, check: &str| {
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .filter(|finding| finding["check"] == check)
            .map(|finding| finding["verdict"].clone())
            .collect::<Vec<_>>()
    };
    let (status, report) = run_doctor();
    assert_eq!((status, found(&report, "database")), (Some(1), vec!["error".into()]), "{report}");
    fixture.run("migrate").succeeds();
    let (status, report) = run_doctor();
    assert_eq!((status, found(&report, "database")), (Some(0), vec!["ok".into()]), "{report}");
    assert_eq!(found(&report, "clock"), ["ok", "ok"], "this machine's and the database's: {report}");
    assert_eq!(found(&report, "credentials"), ["warning"], "{report}");
    assert!(found(&report, "journal").is_empty() && found(&report, "primary").is_empty(), "{report}");
}
