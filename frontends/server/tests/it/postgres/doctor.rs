//! `doctor` on PostgreSQL.

use serde_json::Value;

use super::fixture::Fixture;

#[test]
fn the_database_its_schema_and_its_clock_are_looked_at() {
    let Some(fixture) = Fixture::new() else { return };
    let look = || {
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
    let (status, report) = look();
    assert_eq!((status, found(&report, "database")), (Some(1), vec!["fault".into()]), "{report}");
    fixture.run("migrate").succeeds();
    let (status, report) = look();
    assert_eq!((status, found(&report, "database")), (Some(0), vec!["ok".into()]), "{report}");
    assert_eq!(found(&report, "clock"), ["ok", "ok"], "this machine's and the database's: {report}");
    assert_eq!(found(&report, "credentials"), ["warning"], "{report}");
    assert!(found(&report, "journal").is_empty() && found(&report, "primary").is_empty(), "{report}");
}

#[test]
fn a_snapshot_that_keeps_old_rows_is_told() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let host = fixture.session();
    // As a role that does not see how long the other transactions are open: their age is told by what began since.
    host.run("CREATE ROLE onlooker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker");
    let old_rows = || {
        let mut command = fixture.command("doctor --json --max-connections 10");
        command.env("CATALOGUE_DATABASE", fixture.address.replace("postgres@", "onlooker@"));
        let report: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == "old rows");
        findings
            .map(|found| (found["verdict"].clone(), found["message"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let found = old_rows();
    assert!(found.len() == 1 && found[0].0 == "ok", "{found:?}");
    host.run("SET application_name = 'a dump'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 's3cret' FROM accounts");
    let process = host.texts("SELECT CAST(pg_backend_pid() AS TEXT)").remove(0);
    let writes = "DO $$ BEGIN FOR n IN 1..20000 LOOP PERFORM txid_current(); COMMIT; END LOOP; END $$";
    fixture.session().run(writes);
    let found = old_rows();
    assert!(found.len() == 1 && found[0].0 == "warning", "{found:?}");
    assert!(found[0].1.starts_with(&format!("the session {process} of a dump keeps")), "{found:?}");
    assert!(!found[0].1.contains("s3cret"), "{found:?}");
}
