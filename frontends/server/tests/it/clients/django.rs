//! Django's migrations of tables behind the views, with the hook of `examples/own_tables/django`, while a client reads; and the
//! guide's Django view that creates sign-in links.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use catalogue_postgres_cluster::Cluster;
use serde_json::Value;

use super::python::programs;
use crate::developer_settings::visitor::Visitor;
use crate::program::{Server, TestDir, get};
use crate::tools::{or_skip_unless, output_of, run};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const GUIDE: &str = include_str!("../../../guide/developer-settings.md");
const LIST: &str = "/api/v1/courses?limit=100";

/// Returns the Python of a virtual environment with Django. Returns `None` if it is unavailable and not required.
fn python() -> Option<PathBuf> {
    let programs = programs("django", include_str!("django/requirements.txt"));
    Some(or_skip_unless("clients", programs)?.join("python"))
}

/// A Django project on one database, and the program that reads its tables.
struct Project {
    dir: TestDir,
    python: PathBuf,
    /// Environment of Django, and of the program.
    variables: Vec<(&'static str, String)>,
}

impl Project {
    /// Copies the project and the hook, and creates tables, rows and views.
    fn new(python: PathBuf, vendor: &str, variables: Vec<(&'static str, String)>) -> Self {
        let project = Self { dir: TestDir::new(), python, variables };
        for (from, to) in [
            ("tests/it/clients/django", "site"),
            ("../../examples/own_tables/django/catalogue_views", "site/catalogue_views"),
        ] {
            run(Command::new("cp").arg("-r").arg(Path::new(ROOT).join(from)).arg(project.dir.path(to)));
        }
        let dialect = if vendor == "postgresql" { "postgres" } else { "sqlite" };
        for (name, option) in [("views", ""), ("revisions", " --revisions")] {
            let sql = project.dir.run(&format!("views example --from django --for {dialect}{option}")).succeeds();
            project.dir.write(&format!("site/catalogue_views/{name}.{vendor}.sql"), sql);
        }
        project.migrate_to("0002");
        project.run("migrate");
        project
    }

    fn manage(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.python);
        command.arg("manage.py").args(arguments).current_dir(self.dir.path("site"));
        command.envs(self.variables.iter().cloned()).output().unwrap()
    }

    #[track_caller]
    fn migrate_to(&self, migration: &str) {
        let output = self.manage(&["migrate", "courses", migration]);
        assert!(output.status.success(), "{migration}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = self.dir.command(arguments);
        command.envs(self.variables.iter().cloned());
        command
    }

    fn run(&self, arguments: &str) -> String {
        output_of(&mut self.command(arguments)).unwrap()
    }
}

/// Reads the list until `stop`. Returns the number of responses with 500; each other response must have the account's 40 courses.
fn read_until(stop: &AtomicBool, address: &str, token: &str) -> usize {
    let mut failures = 0;
    while !stop.load(Ordering::Relaxed) {
        match get(address, LIST, token) {
            (500, _) => failures += 1,
            (status, list) => {
                assert_eq!(status, 200);
                let courses = list["data"].as_array().unwrap();
                assert_eq!(courses.len(), 40, "{list}");
                assert!(courses.iter().all(|course| course["title"] == "Course of one"), "{list}");
            }
        }
    }
    failures
}

/// Calls `migrate` while a client reads. Returns the number of responses with 500 until `migrate` returned.
fn failures_during(server: &Server, token: &str, migrate: impl FnOnce()) -> usize {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&stop, &server.address, token));
        migrate();
        stop.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    })
}

fn survives_migrations(project: &Project) {
    let token = project.run("keys create --account 1 --name n --scope read:courses");
    let token = token.trim_end();
    let server = Server::start(&mut project.command("serve --listen 127.0.0.1:0 --log off"));
    let list = || -> (u16, Value) { server.get(LIST, token) };
    assert_eq!(list().0, 200);
    for migration in ["0003", "0004"] {
        failures_during(&server, token, || project.migrate_to(migration));
        assert_eq!(list().0, 200, "{migration}");
        project.run("views check");
    }
    let failures = failures_during(&server, token, || project.migrate_to("0005"));
    assert_eq!(failures, 0, "a migration of other tables must not drop the views");

    assert!(!project.manage(&["migrate"]).status.success());
    assert_eq!(list().0, 500, "the views are dropped until a migration succeeds");
    project.migrate_to("0005");
    assert_eq!(list().0, 200);

    // The triggers exist again, too.
    let rename = "from courses.models import Course; Course.objects.filter(owner_id=1).update(title='Renamed')";
    assert!(project.manage(&["shell", "--command", rename]).status.success());
    assert_eq!(list().1["data"][0]["title"], "Renamed");
    project.run("views check");
}

fn project_on_sqlite() -> Option<Project> {
    let variables = [
        ("CATALOGUE_COURSES", "views".to_owned()),
        ("CATALOGUE_COURSES_DATABASE", "sqlite:site/app.db".to_owned()),
        ("CATALOGUE_DATABASE", "sqlite:keys.db".to_owned()),
        ("CATALOGUE_SETTINGS_URL", "/settings".to_owned()),
    ];
    Some(Project::new(python()?, "sqlite", variables.to_vec()))
}

#[test]
fn views_on_sqlite_survive_django_migrations() {
    let Some(project) = project_on_sqlite() else { return };
    survives_migrations(&project);
}

/// Runs both halves of the hook in the default mode of transactions. After each statement in a transaction, another connection
/// tries to begin a write: if it can, the next write of the hook fails at once.
const HOOK_BESIDE_WRITER: &str = "
import sqlite3
from types import SimpleNamespace
from catalogue_views.apps import create, drop
from django.db import connection

connection.ensure_connection()
connection.transaction_mode = None
writer = sqlite3.connect('app.db', timeout=0, isolation_level=None)
refused = 0

def begin_write(execute, *arguments):
    global refused
    result = execute(*arguments)
    if connection.in_atomic_block:
        try:
            writer.execute('BEGIN IMMEDIATE')
        except sqlite3.OperationalError:
            refused += 1
    return result

plan = [(SimpleNamespace(operations=[None]), False)]
count = \"SELECT count(*) FROM sqlite_schema WHERE name LIKE 'catalogue~_%' ESCAPE '~' AND type <> 'table'\"
with connection.execute_wrapper(begin_write):
    for half in [lambda: drop('default', plan), lambda: create('default')]:
        half()
        print(writer.execute(count).fetchone()[0], refused > 0)
        refused = 0
";

#[test]
fn hook_drops_and_creates_all_objects_beside_writer() {
    let Some(project) = project_on_sqlite() else { return };
    let output = project.manage(&["shell", "--verbosity", "0", "--command", HOOK_BESIDE_WRITER]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The views, their indexes and the triggers.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0 True\n18 True\n");
}

/// Calls the guide's view as the user with the id `VISITOR`, in the directory that the addresses of the server's databases refer to.
const CALL_VIEW: &str = "
import os, sys
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory
sys.executable = os.environ['EXECUTABLE']
from guide import api_keys
request, visitor = RequestFactory().get('/api-keys'), os.environ['VISITOR']
request.user = User(pk=visitor) if visitor else AnonymousUser()
os.chdir('..')
try:
    print(api_keys(request).url)
except PermissionDenied:
    print('denied')
";

#[test]
fn guide_view_redirects_user_to_working_sign_in_link() {
    let Some(mut project) = project_on_sqlite() else { return };
    let view = GUIDE.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    project.dir.write("site/guide.py", view);
    let python = Path::new(env!("CARGO_BIN_EXE_catalogue")).with_file_name("python");
    project.variables.push(("EXECUTABLE", python.display().to_string()));
    let server = Server::start(&mut project.command("serve --listen 127.0.0.1:0 --log off"));
    let mut link_of = |visitor: &str| {
        project.variables.push(("VISITOR", visitor.to_owned()));
        let output = project.manage(&["shell", "--verbosity", "0", "--command", CALL_VIEW]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(link_of(""), "/accounts/login/?next=/api-keys\n");
    assert_eq!(link_of("99"), "denied\n");
    for (visitor, name) in [("1", "one"), ("2", "two")] {
        let mut owner = Visitor::of(&server.address);
        assert_eq!(owner.sign_in(&link_of(visitor)).status, 303, "{name}");
        let page = owner.get("/settings").body;
        assert!(page.contains(&format!(">{name}<")), "{name}: {page}");
    }
}

#[test]
fn views_on_postgresql_survive_django_migrations() {
    let Some(cluster) = Cluster::shared() else { return };
    let Some(python) = python() else { return };
    let host = cluster.directory.display().to_string();
    let mut psql = Command::new("psql");
    psql.args(["--host", &host, "--username", "postgres", "--command", "CREATE DATABASE django"]);
    output_of(&mut psql).unwrap();
    let variables = [
        ("CATALOGUE_COURSES", "views".to_owned()),
        ("CATALOGUE_DATABASE", format!("postgres:///django?host={host}&user=postgres")),
        ("POSTGRES_HOST", host),
        ("POSTGRES_NAME", "django".to_owned()),
    ];
    let project = Project::new(python, "postgresql", variables.to_vec());
    survives_migrations(&project);
}
