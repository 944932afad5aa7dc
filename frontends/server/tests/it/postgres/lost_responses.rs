//! Wherever the connection to PostgreSQL is cut, a request is answered truly or by a 500, and what changes something says
//! whether it was done.

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

/// A database with courses, the way to it that can be cut, and one that cannot.
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

    fn keep(&self, tables: &[impl AsRef<str>]) {
        for table in tables.iter().map(AsRef::as_ref) {
            self.host.run(&format!("CREATE TEMP TABLE kept_{table} AS SELECT * FROM public.{table}"));
        }
    }

    fn restore(&self, tables: &[impl AsRef<str>]) {
        let put = |table: &str| format!("DELETE FROM public.{table}; INSERT INTO public.{table} TABLE kept_{table};");
        let each: String = tables.iter().map(|table| put(table.as_ref())).collect();
        self.host.run(&format!("BEGIN; SET LOCAL session_replication_role = replica; {each} COMMIT"));
    }

    /// All rows of the tables.
    fn contents(&self, tables: &[impl AsRef<str>]) -> Vec<String> {
        let of = |table: &str| format!("SELECT CAST({table} AS TEXT) FROM public.{table} ORDER BY 1");
        tables.iter().flat_map(|table| self.host.texts(&of(table.as_ref()))).collect()
    }

    /// Waits until the database is done with what came over a connection that was cut.
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
fn each_request_is_answered_truly_or_by_a_500() {
    for sender in BOTH {
        let Some(scene) = Fixtures::new(sender) else { return };
        let (_, token) = scene.fixture.key("a");
        // In the form of a signed one, of which the storage knows that it was revoked.
        let signed = "eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.AAAA";
        if cfg!(feature = "oauth") {
            crate::keys_find::reading(scene.fixture.command("tokens revoke --account a"), signed).succeeds();
        }
        for page_cache in ["0", "8MiB"] {
            let server = scene.fixture.serve(&format!("--page-cache {page_cache} --log off"));
            for (token, path) in [&*token, signed, "unknown"].iter().flat_map(|token| {
                ["me", "courses", "courses?limit=1", "courses/one", "courses/none"].map(|path| (token, path))
            }) {
                let ask = || server.get(&format!("/api/v1/{path}"), token);
                let expected = without_id(ask());
                for at in 1.. {
                    scene.fail(at);
                    let response = ask();
                    let met = scene.proxy.stop();
                    let context = format!("{path}, {sender:?} at {at}: {response:?}");
                    let is_failure = met && response.0 == 500 && response.1["error"]["code"] == "internal_error";
                    assert!(is_failure || without_id(response) == expected, "{context}");
                    assert_eq!(without_id(ask()), expected, "after {context}");
                    if !met {
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
fn each_change_of_the_developer_settings_says_whether_it_was_done() {
    for sender in BOTH {
        let Some(scene) = Fixtures::new(sender) else { return };
        let serve = || scene.fixture.serve("--settings-url /settings --log off");
        let link = || scene.fixture.run("settings link --account a --settings-url /settings").succeeds();
        let changes = Changes::new(&serve().address, [&link(), &link()]);
        scene.keep(&TABLES);
        let (not_done, unknown) = changes.assert_outcomes(&scene, serve);
        // The commit is one message, and its answer is two.
        assert!(not_done > 0 && unknown >= 10, "{sender:?}: {not_done} not done, {unknown} not known");
    }
}

#[test]
#[ignore = "takes minutes"]
fn a_command_says_whether_it_was_done() {
    cut_commands(&["keys create --account a --name n --scope read:courses"]);
}

#[test]
#[ignore = "takes minutes"]
fn each_command_says_whether_it_was_done() {
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
        scene.keep(&tables);
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
    /// Lets one message after the other be lost, until the command has no further one.
    fn cut_each(&self, arguments: &str, tables: &[String]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        loop {
            self.restore(tables);
            let before = self.contents(tables);
            self.fail(outcomes.len() + 1);
            let mut command = self.fixture.command(arguments);
            command.stdin(std::fs::File::open(self.fixture.dir.path("token")).unwrap());
            let outcome: Outcome = command.output().unwrap().into();
            let met = self.stop();
            let is_changed = self.contents(tables) != before;
            let context = format!("{arguments}, {:?} at {}: {outcome:?}", self.sender, outcomes.len() + 1);
            if outcome.status == Some(0) {
                assert!(is_changed, "{context}");
            } else {
                assert!(met && outcome.status == Some(1) && outcome.out.is_empty(), "{context}");
                let is_unknown = outcome.err.contains("it is not known whether");
                assert!(is_unknown || !is_changed && outcome.err.starts_with("error: "), "{context}");
            }
            outcomes.push(outcome);
            if !met {
                return outcomes;
            }
        }
    }
}
