//! What an operator sees of a cluster of Citus: the one whose coordinator `CATALOGUE_TEST_CITUS` names.

use std::env;
use std::io::{Write as _, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fixture::{Fixture, Session};
use crate::observed::Observed;
use crate::program::COURSES;

/// One test at a time: they change what the cluster's nodes are.
static LOCK: Mutex<()> = Mutex::new(());

/// An empty schema of the cluster, and what undoes a test's change of its nodes.
struct Citus {
    fixture: Fixture,
    schema: &'static str,
    address: String,
    undo: Vec<String>,
    _guard: MutexGuard<'static, ()>,
}

impl Citus {
    /// `None`, and a line that says so, where no cluster is named.
    fn new(schema: &'static str) -> Option<Self> {
        let Ok(address) = env::var("CATALOGUE_TEST_CITUS") else {
            // Past the capture of the test's own output, so that it is seen.
            stderr().write_all(b"skipped: Citus: CATALOGUE_TEST_CITUS names no coordinator\n").unwrap();
            return None;
        };
        let place = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        Session::of(&address).run(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let end = if address.contains('?') { '&' } else { '?' };
        let options = format!("options=-c%20search_path%3D{schema}%20-c%20citus.shard_count%3D4");
        let fixture = Fixture::at(format!("{address}{end}{options}"));
        Some(Self { fixture, schema, address, undo: Vec::new(), _guard: place })
    }

    fn observed(&self) -> Observed {
        let serve = "serve --no-migrate --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --log off";
        Observed::by(&self.fixture.dir, &mut self.fixture.command(serve))
    }
}

impl Drop for Citus {
    fn drop(&mut self) {
        let session = Session::of(&self.address);
        self.undo.iter().for_each(|sql| session.run(sql));
        session.run(&format!("DROP SCHEMA {} CASCADE", self.schema));
    }
}

/// The faults of a server that is ready; asked again where a busy machine gave no answer in time.
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
fn ready_and_doctor_name_tables_that_are_not_spread_and_nodes_that_are_not_active() {
    let Some(mut citus) = Citus::new("catalogue_test_ready") else { return };
    citus.fixture.run("migrate --without-triggers").succeeds();
    citus.fixture.import(COURSES);
    let of_plain_tables = citus.observed();
    let output = problems(&of_plain_tables);
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

    // Nobody listens there, and nobody asks before it is activated.
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
fn a_dead_node_that_citus_calls_active_fails_its_own_accounts_and_leaves_the_server_ready() {
    let Some(mut citus) = Citus::new("catalogue_test_dead") else { return };
    let fixture = &citus.fixture;
    fixture.run("migrate --citus").succeeds();
    let of = |account: &str| {
        COURSES.replace(r#""b""#, &format!("\"{account}\"")).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let accounts: Vec<_> = (0..8).map(|number| format!("account_{number}")).collect();
    let lines = accounts.iter().flat_map(|account| {
        let lines = of(account);
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
    let near = groups.iter().position(|group| *group != dead).expect("there are two workers, and eight accounts");
    let tokens = [0, near].map(|number| fixture.key(&accounts[number]).1);
    let observed = citus.observed();
    let status = |token: &str| observed.server.get("/api/v1/courses", token).0;
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [200, 200]);

    let node = session.texts(&format!(
        "SELECT format('SELECT citus_update_node(%s, %L, %s, force => true, lock_cooldown => 100)', nodeid, nodename, nodeport) \
         FROM pg_dist_node WHERE groupid = {dead}"
    ));
    let away = format!(
        "SELECT citus_update_node(nodeid, '127.0.0.1', 1, force => true, lock_cooldown => 100) FROM pg_dist_node WHERE groupid = {dead}"
    );
    citus.undo.extend([node[0].clone(), "SELECT start_metadata_sync_to_all_nodes()".to_owned()]);
    session.run(&away);
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [500, 200], "and never 401");
    let (ready, found) = observed.ready();
    assert_eq!((ready, &found["checks"]["credentials"]), (200, &"ok".into()), "{found}");
    assert!(found["problems"].is_null(), "Citus calls it active: {found}");
    let another = citus.observed();
    assert_eq!(another.server.get("/api/v1/courses", &tokens[1]).0, 200, "a server starts without it");

    citus.undo.drain(..).for_each(|sql| session.run(&sql));
    assert_eq!([0, 1].map(|number| status(&tokens[number])), [200, 200]);
}
