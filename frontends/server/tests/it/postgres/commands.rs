//! Commands on PostgreSQL.

use crate::program::{COURSES, RunningCommand, TestDir};

const NONE: [String; 0] = [];

/// Commands that create no tables, and commands that do.
const NOT_MIGRATING: [&str; 10] = [
    "export",
    "accounts list",
    "keys list --account a",
    "keys create --account a --name n --scope read:courses",
    "keys revoke key_1",
    "tokens create --account a --scope read:courses",
    "serve --no-migrate --wait 1d --listen 127.0.0.1:0",
    "demo --no-migrate --listen 127.0.0.1:0",
    "import --no-migrate courses.jsonl",
    "import --no-migrate --dry-run courses.jsonl",
];
const MIGRATING: [&str; 6] = [
    "migrate",
    "migrate --without-triggers",
    "serve --wait 1d --listen 127.0.0.1:0",
    "demo --listen 127.0.0.1:0",
    "import courses.jsonl",
    "import courses.jsonl --dry-run",
];

/// A function `version()` in `public` simulates another engine. It has precedence, as the search path lists `pg_catalog` last.
#[test]
fn every_command_reports_unusable_database_and_changes_nothing() {
    let Some(mut fixture) = TestDir::postgres() else { return };
    fixture.address += "?options=-c%20search_path%3Dpublic%2Cpg_catalog";
    fixture.write("courses.jsonl", COURSES);
    let cockroachdb = "CREATE FUNCTION version() RETURNS TEXT LANGUAGE SQL AS $$SELECT 'CockroachDB CCL v25.1.0'$$";
    let all = [&NOT_MIGRATING[..], &MIGRATING].concat();
    for (change, undo, commands, message) in [
        ("", "", &NOT_MIGRATING[..], "tables do not exist; create them with `migrate` or `import`"),
        (
            "CREATE TABLE courses (id BIGINT)",
            "DROP TABLE courses",
            &all,
            "tables of another program; use another database",
        ),
        (cockroachdb, "DROP FUNCTION public.version()", &all, "unsupported database CockroachDB; use PostgreSQL"),
        (cockroachdb, "DROP FUNCTION public.version()", &["migrate --citus"], "unsupported database CockroachDB"),
    ] {
        fixture.host().run(change);
        let tables = fixture.tables();
        for arguments in commands {
            fixture.run(arguments).fails(1, &["/test_", message]);
        }
        let doctor = fixture.run("doctor");
        assert!(doctor.status == Some(1) && doctor.out.contains(message), "{doctor:?}");
        assert_eq!(fixture.tables(), tables, "{message}");
        fixture.host().run(undo);
    }
    fixture.run("import courses.jsonl").succeeds();
    assert_eq!(fixture.export(), COURSES);
}

#[test]
fn tables_without_triggers_give_fresh_responses() {
    let Some(fixture) = TestDir::postgres() else { return };
    fixture.run("migrate --without-triggers").succeeds();
    let triggers = "SELECT CAST(tgname AS TEXT) FROM pg_trigger WHERE NOT tgisinternal";
    assert_eq!(fixture.host().texts(triggers), NONE);
    fixture.write("courses.jsonl", COURSES);
    fixture.run("import courses.jsonl --no-migrate").succeeds();
    assert_eq!(fixture.export(), COURSES);
    let (_, token) = fixture.key("a");
    let server = fixture.serve("--no-migrate");
    let (status, before) = server.get("/api/v1/courses", &token);
    assert_eq!(status, 200);
    fixture.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\"}");
    fixture.run("import none.jsonl --prune --no-migrate").succeeds();
    let (status, after) = server.get("/api/v1/courses", &token);
    assert!(status == 200 && before != after && after.to_string().contains("[]"), "{after}");
    TestDir::new().run("migrate --without-triggers").fails(2, &["--without-triggers", "only for PostgreSQL"]);
    TestDir::new().run("migrate --citus").fails(2, &["--citus", "only for PostgreSQL"]);
    fixture.run("migrate --citus").fails(1, &["lacks the extension citus", "CREATE EXTENSION citus"]);
}

#[test]
fn sigint_ends_import_that_waits_for_lock() {
    let Some(fixture) = TestDir::postgres_with_courses() else { return };
    fixture.write("new.jsonl", COURSES.replace("One", "Two"));
    let session = fixture.host();
    session.run("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    let import = RunningCommand::start(&mut fixture.command("import new.jsonl --no-migrate"));
    let waiting = "SELECT CAST(pid AS TEXT) FROM pg_locks WHERE NOT granted AND relation = 'accounts'::regclass";
    while session.texts(waiting).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    import.stop_with("INT").fails(130, &["interrupted; nothing was imported"]);
    session.run("ROLLBACK");
    assert_eq!(fixture.export(), COURSES);
}

#[test]
fn commands_and_server_work_with_pooler_option() {
    let Some(fixture) = TestDir::postgres() else { return };
    fixture.write("courses.jsonl", COURSES);
    fixture.run("import courses.jsonl --database-pooler").succeeds();
    assert_eq!(fixture.run("--database-pooler export").succeeds(), COURSES);
    let (_, token) = fixture.key("a");
    let server = fixture.serve("--database-pooler --database-connections 1");
    assert_eq!(server.get("/api/v1/courses/one", &token).1["data"]["title"], "One");
}
