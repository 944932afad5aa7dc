//! `/ready` and `doctor` on a Citus cluster, whose coordinator `CATALOGUE_TEST_CITUS` names.

use std::env;

use super::fixture::Session;
use crate::observed::Observed;
use crate::program::{COURSES, TestDir};
use crate::skip::or_skip_unless;

/// An empty schema of the cluster, and the statements that undo a test's change of its nodes.
struct Citus {
    fixture: TestDir,
    schema: &'static str,
    address: String,
    undo: Vec<String>,
}

impl Citus {
    /// Creates the schema. Prints a line and returns `None` if no cluster is named.
    fn new(schema: &'static str) -> Option<Self> {
        let address = env::var("CATALOGUE_TEST_CITUS");
        let address = or_skip_unless("citus", address.map_err(|error| format!("CATALOGUE_TEST_CITUS: {error}")))?;
        Session::of(&address).run(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let end = if address.contains('?') { '&' } else { '?' };
        let options = format!("options=-c%20search_path%3D{schema}%20-c%20citus.shard_count%3D4");
        let fixture = TestDir::over(format!("{address}{end}{options}"));
        Some(Self { fixture, schema, address, undo: Vec::new() })
    }

    fn observed(&self) -> Observed {
        Observed::start(&self.fixture, "--no-migrate --log off")
    }
}

impl Drop for Citus {
    fn drop(&mut self) {
        let session = Session::of(&self.address);
        self.undo.iter().for_each(|sql| session.run(sql));
        session.run(&format!("DROP SCHEMA {} CASCADE", self.schema));
    }
}

/// Returns the problems of a ready server. Retries, as a busy machine may not respond in time.
fn problems(observed: &Observed) -> Vec<String> {
    loop {
        let (status, found) = observed.ready();
        if status == 200 && found["checks"]["courses"] == "ok" {
            let problems = found["problems"].as_array().cloned().unwrap_or_default();
            return problems.iter().map(|problem| problem.as_str().unwrap().to_owned()).collect();
        }
    }
}

#[test]
fn ready_and_doctor_report_undistributed_tables_and_inactive_nodes() {
    let Some(mut citus) = Citus::new("catalogue_test_ready") else { return };
    citus.fixture.run("migrate --without-triggers").succeeds();
    citus.fixture.import(COURSES);
    let undistributed = citus.observed();
    let output = problems(&undistributed);
    assert!(output.len() == 1 && output[0].contains(": accounts, catalogue_schema_version, courses, "), "{output:?}");
    let doctor = citus.fixture.run("doctor").out;
    assert!(
        doctor.contains("accounts, catalogue_schema_version, courses, ") && doctor.contains("migrate --citus"),
        "{doctor}"
    );

    citus.fixture.run("migrate --citus").succeeds();
    let observed = citus.observed();
    assert_eq!(problems(&observed), [""; 0]);
    citus.fixture.host().run("SELECT undistribute_table('revoked_tokens')");
    let output = problems(&observed);
    assert!(output.len() == 1 && output[0].contains(": revoked_tokens; run `catalogue migrate --citus`"), "{output:?}");
    citus.fixture.run("migrate --citus").succeeds();
    assert_eq!(problems(&observed), [""; 0]);

    // No server listens at the node's address. Citus does not connect to a node before its activation.
    let node = "'127.0.0.1', 1";
    citus.undo.push(format!("SELECT citus_remove_node({node})"));
    citus.fixture.host().run(&format!("SELECT citus_add_inactive_node({node})"));
    let output = problems(&observed);
    assert_eq!(output, ["node 127.0.0.1:1 is not active; see citus_activate_node"]);
    let doctor = citus.fixture.run("doctor").out;
    assert!(doctor.contains("127.0.0.1:1 is not active"), "{doctor}");
    citus.fixture.host().run(&citus.undo.pop().unwrap());
    assert_eq!(problems(&observed), [""; 0]);
}
