//! Requests and commands whose connection to PostgreSQL is cut at any message: a request gets the correct response or a 500,
//! and a change reports whether it was made.

#[path = "../../../../../storage/postgres/tests/it/lost_responses/proxy.rs"]
mod proxy;

use std::thread;

use catalogue_postgres_cluster::Cluster;
use serde_json::Value;

use super::fixture::{Fixture, Session};
use crate::developer_settings::changes::{Changes, FailingDatabase, SHAPE, TABLES};
use crate::program::{COURSES, Outcome};
use proxy::{MAX_MESSAGES, Proxy, Sender};

const BOTH: [Sender; 2] = [Sender::Client, Sender::Server];

/// A database with courses, a proxy that can cut connections to it, and a direct connection.
struct Fixtures {
    fixture: Fixture,
    proxy: Proxy,
    host: Session,
    sender: Sender,
}

impl Fixtures {
    fn new(sender: Sender) -> Option<Self> {
        let mut fixture = Fixture::with_courses()?;
        let host = fixture.session();
        let proxy = Proxy::before(Cluster::shared().unwrap());
        let (_, name) = fixture.address.rsplit_once('/').unwrap();
        fixture.address = format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable", proxy.port);
        Some(Self { fixture, proxy, host, sender })
    }

    fn save(&self, tables: &[impl AsRef<str>]) {
        for table in tables.iter().map(AsRef::as_ref) {
            self.host.run(&format!("CREATE TEMP TABLE saved_{table} AS SELECT * FROM public.{table}"));
        }
    }

    fn restore(&self, tables: &[impl AsRef<str>]) {
        let put = |table: &str| format!("DELETE FROM public.{table}; INSERT INTO public.{table} TABLE saved_{table};");
        let each: String = tables.iter().map(|table| put(table.as_ref())).collect();
        self.host.run(&format!("BEGIN; SET LOCAL session_replication_role = replica; {each} COMMIT"));
    }

    /// Returns all rows of the tables.
    fn contents(&self, tables: &[impl AsRef<str>]) -> Vec<String> {
        let select = |table: &str| format!("SELECT CAST({table} AS TEXT) FROM public.{table} ORDER BY 1");
        tables.iter().flat_map(|table| self.host.texts(&select(table.as_ref()))).collect()
    }

    /// Waits until the database has finished the statements of cut connections.
    fn settle(&self) {
        let busy = "SELECT CAST(pid AS TEXT) FROM pg_stat_activity WHERE datname = current_database() \
            AND state IS DISTINCT FROM 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        while !self.host.texts(busy).is_empty() {
            thread::yield_now();
        }
    }
}

impl FailingDatabase for Fixtures {
    fn restore(&self) {
        self.restore(&TABLES);
    }

    fn shape(&self) -> String {
        self.host.texts(SHAPE).remove(0)
    }

    fn fail(&self, at: usize) {
        assert!(at < MAX_MESSAGES);
        self.proxy.cut(self.sender, at - 1);
    }

    fn stop(&self) -> bool {
        let was_cut = self.proxy.stop();
        self.settle();
        was_cut
    }
}

#[test]
fn requests_return_correct_response_or_500() {
    for sender in BOTH {
        let Some(scene) = Fixtures::new(sender) else { return };
        let (_, token) = scene.fixture.key("a");
        // Looks like a signed token; the storage knows that it was revoked.
        let signed = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.AAAA";
        if cfg!(feature = "oauth") {
            crate::keys_find::reading(scene.fixture.command("tokens revoke --account a"), signed).succeeds();
        }
        for page_cache in ["0", "8MiB"] {
            let server = scene.fixture.serve(&format!("--page-cache {page_cache} --log off"));
            for (token, path) in [&*token, signed, "unknown"].iter().flat_map(|token| {
                ["me", "courses", "courses?limit=1", "courses/one", "courses/none"].map(|path| (token, path))
            }) {
                let get = || server.get(&format!("/api/v1/{path}"), token);
                let expected = without_id(get());
                for at in 1.. {
                    scene.fail(at);
                    let response = get();
                    let was_cut = scene.proxy.stop();
                    let context = format!("{path}, {sender:?} at {at}: {response:?}");
                    let is_failure = was_cut && response.0 == 500 && response.1["error"]["code"] == "internal_error";
                    assert!(is_failure || without_id(response) == expected, "{context}");
                    assert_eq!(without_id(get()), expected, "after {context}");
                    if !was_cut {
                        break;
                    }
                }
            }
        }
    }
}

fn without_id((status, mut body): (u16, Value)) -> (u16, Value) {
    body["error"]["details"]["requestId"].take();
    (status, body)
}

#[test]
#[ignore = "takes minutes"]
fn developer_settings_changes_report_outcome() {
    for sender in BOTH {
        let Some(scene) = Fixtures::new(sender) else { return };
        let serve = || scene.fixture.serve("--settings-url /settings --log off");
        let link = || scene.fixture.run("settings link --account a --settings-url /settings").succeeds();
        let changes = Changes::new(&serve().address, [&link(), &link()]);
        scene.save(&TABLES);
        let (not_done, unknown) = changes.assert_outcomes(&scene, serve);
        // Each of the 10 changes has an unknown outcome if its commit, or the response to the commit, is lost.
        assert!(not_done > 0 && unknown >= 10, "{sender:?}: {not_done} not done, {unknown} not known");
    }
}

#[test]
#[ignore = "takes minutes"]
fn key_creation_reports_outcome() {
    cut_commands(&["keys create --account a --name n --scope read:courses"]);
}

#[test]
#[ignore = "takes minutes"]
fn commands_report_outcome() {
    cut_commands(&[
        "tokens create --account a --scope read:courses",
        "keys revoke --token -",
        "keys rotate --token -",
        LINK,
        "settings sign-out --account a",
        "accounts remove a --yes",
        "import new.jsonl --prune",
    ]);
}

const LINK: &str = "settings link --account a --settings-url /settings";

fn cut_commands(commands: &[&str]) {
    for sender in BOTH {
        let Some(scene) = Fixtures::new(sender) else { return };
        scene.fixture.dir.write("new.jsonl", COURSES.replace("\"one\"", "\"new\""));
        scene.fixture.dir.write("token", scene.fixture.key("a").1);
        scene.fixture.run(LINK).succeeds();
        let tables = scene.fixture.tables();
        scene.save(&tables);
        for arguments in commands {
            let outcomes = scene.cut_each(arguments, &tables);
            let message = |text| outcomes.iter().filter(|outcome| outcome.err.contains(text)).count();
            assert!(
                message("it is not known") > 0 && message("it is not known") < outcomes.len() - 1,
                "{sender:?}: {outcomes:#?}"
            );
        }
    }
}

impl Fixtures {
    /// Runs the command repeatedly and cuts its connection one message later each time, until no message is cut.
    fn cut_each(&self, arguments: &str, tables: &[String]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        loop {
            self.restore(tables);
            let before = self.contents(tables);
            self.fail(outcomes.len() + 1);
            let mut command = self.fixture.command(arguments);
            command.stdin(std::fs::File::open(self.fixture.dir.path("token")).unwrap());
            let outcome: Outcome = command.output().unwrap().into();
            let was_cut = self.stop();
            let is_changed = self.contents(tables) != before;
            let context = format!("{arguments}, {:?} at {}: {outcome:?}", self.sender, outcomes.len() + 1);
            if outcome.status == Some(0) {
                assert!(is_changed, "{context}");
            } else {
                assert!(was_cut && outcome.status == Some(1) && outcome.out.is_empty(), "{context}");
                let is_unknown = outcome.err.contains("it is not known whether");
                assert!(is_unknown || !is_changed && outcome.err.starts_with("error: "), "{context}");
            }
            outcomes.push(outcome);
            if !was_cut {
                return outcomes;
            }
        }
    }
}
