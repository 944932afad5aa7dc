//! `/ready`, `doctor` and failures on a Citus cluster, whose coordinator `CATALOGUE_TEST_CITUS` names.

use std::env;
use std::io::{Write as _, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fixture::{Fixture, Session};
use crate::observed::Observed;
use crate::program::COURSES;

/// Serializes the tests, as they change the cluster's nodes.
static LOCK: Mutex<()> = Mutex::new(());

/// An empty schema of the cluster, and the statements that undo a test's change of its nodes.
struct Citus {
    fixture: Fixture,
    schema: &'static str,
    address: String,
    undo: Vec<String>,
    _guard: MutexGuard<'static, ()>,
}

impl Citus {
    /// Creates the schema. Prints a line and returns `None` if no cluster is named.
    fn new(schema: &'static str) -> Option<Self> {
        let Ok(address) = env::var("CATALOGUE_TEST_CITUS") else {
            // Written directly: the test runner captures other output.
            stderr().write_all(b"skipped: Citus: CATALOGUE_TEST_CITUS names no coordinator\n").unwrap();
            return None;
        };
        let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        Session::of(&address).run(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let end = if address.contains('?') { '&' } else { '?' };
        let options = format!("options=-c%20search_path%3D{schema}%20-c%20citus.shard_count%3D4");
        let fixture = Fixture::at(format!("{address}{end}{options}"));
        Some(Self { fixture, schema, address, undo: Vec::new(), _guard: guard })
    }

    fn observed(&self) -> Observed {
        let serve = "serve --no-migrate --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --log off";
        Observed::start_with(&self.fixture.dir, &mut self.fixture.command(serve))
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
    citus.fixture.session().run("SELECT undistribute_table('revoked_tokens')");
    let output = problems(&observed);
    assert!(output.len() == 1 && output[0].contains(": revoked_tokens; run `catalogue migrate --citus`"), "{output:?}");
    citus.fixture.run("migrate --citus").succeeds();
    assert_eq!(problems(&observed), [""; 0]);

    // No server listens at the node's address. Citus does not connect to a node before its activation.
    let node = "'127.0.0.1', 1";
    citus.undo.push(format!("SELECT citus_remove_node({node})"));
    citus.fixture.session().run(&format!("SELECT citus_add_inactive_node({node})"));
    let output = problems(&observed);
    assert_eq!(output, ["the node 127.0.0.1:1 is not active; see citus_activate_node"]);
    let doctor = citus.fixture.run("doctor").out;
    assert!(doctor.contains("127.0.0.1:1 is not active"), "{doctor}");
    citus.fixture.session().run(&citus.undo.pop().unwrap());
    assert_eq!(problems(&observed), [""; 0]);
}

#[test]
fn dead_node_considered_active_fails_only_its_accounts() {
    let Some(mut citus) = Citus::new("catalogue_test_dead") else { return };
    let fixture = &citus.fixture;
    fixture.run("migrate --citus").succeeds();
    let lines_of = |account: &str| {
        COURSES.replace(r#""b""#, &format!("\"{account}\"")).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let accounts: Vec<_> = (0..8).map(|number| format!("account_{number}")).collect();
    let lines = accounts.iter().flat_map(|account| {
        let lines = lines_of(account);
        [lines[0].clone(), lines[3].clone()]
    });
    fixture.import(&lines.collect::<Vec<_>>().join("\n"));
    let session = fixture.session();
    let groups: Vec<String> = accounts
        .iter()
        .map(|account| {
            let group = format!(
                "SELECT CAST(groupid AS TEXT) FROM pg_dist_placement WHERE shardid \
                             = get_shard_id_for_distribution_column('accounts', CAST('{account}' AS TEXT))"
            );
            session.texts(&group).remove(0)
        })
        .collect();
    let dead = groups[0].clone();
    let near = groups.iter().position(|group| *group != dead).expect("two workers share eight accounts");
    let tokens = [0, near].map(|number| fixture.key(&accounts[number]).1);
    let observed = citus.observed();
    let status = |token: &str| observed.server.get("/api/v1/courses", token).0;
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [200, 200]);

    let node = session.texts(&format!(
        "SELECT format('SELECT citus_update_node(%s, %L, %s, force => true, lock_cooldown => 100)', nodeid, nodename, nodeport) \
         FROM pg_dist_node WHERE groupid = {dead}"
    ));
    let unreachable_node = format!(
        "SELECT citus_update_node(nodeid, '127.0.0.1', 1, force => true, lock_cooldown => 100) FROM pg_dist_node WHERE groupid = {dead}"
    );
    citus.undo.extend([node[0].clone(), "SELECT start_metadata_sync_to_all_nodes()".to_owned()]);
    session.run(&unreachable_node);
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [500, 200], "500 instead of 401");
    let (ready, found) = observed.ready();
    assert_eq!((ready, &found["checks"]["credentials"]), (200, &"ok".into()), "{found}");
    assert!(found["problems"].is_null(), "Citus considers the node active: {found}");
    let another = citus.observed();
    assert_eq!(another.server.get("/api/v1/courses", &tokens[1]).0, 200, "a server starts without the node");

    citus.undo.drain(..).for_each(|sql| session.run(&sql));
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [200, 200]);
}
