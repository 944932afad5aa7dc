//! Commands on PostgreSQL.

use std::process::{Command, Stdio};

use serde_json::json;

use super::fixture::Fixture;
use crate::program::{COURSES, Outcome, Server, TestDir};

const NONE: [String; 0] = [];

#[test]
fn commands_without_migration_exit_1_on_empty_database() {
    let Some(fixture) = Fixture::new() else { return };
    for arguments in [
        "export",
        "keys list --account a",
        "keys create --account a --name n --scope read:courses",
        "keys revoke key_1",
        "tokens create --account a --scope read:courses",
        "serve --no-migrate --listen 127.0.0.1:0",
        "demo --no-migrate --listen 127.0.0.1:0",
        "import --no-migrate -",
        "import --no-migrate --dry-run -",
    ] {
        fixture.run(arguments).fails(1, &["/test_", "tables do not exist; create them with `migrate` or `import`"]);
    }
    assert_eq!(fixture.tables(), NONE);
}

#[test]
fn tables_of_another_program_are_not_modified() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.session().run("CREATE TABLE courses (id BIGINT)");
    for arguments in ["export", "migrate", "import -", "import - --dry-run", "serve --listen 127.0.0.1:0"] {
        fixture.run(arguments).fails(1, &["/test_", "tables of another program; use another database"]);
    }
    assert_eq!(fixture.tables(), ["courses"]);
}

#[test]
fn migrate_prints_same_output_as_on_sqlite() {
    let Some(fixture) = Fixture::new() else { return };
    let sqlite = TestDir::new();
    for arguments in ["migrate --json", "migrate --json", "migrate"] {
        let [here, there] = [fixture.run(arguments).succeeds(), sqlite.run(arguments).succeeds()];
        // Each output names its database.
        let nameless =
            |output: &str| output.split_once(": the ").map_or(output.to_owned(), |(_, rest)| rest.to_owned());
        assert_eq!(nameless(&here), nameless(&there), "{arguments}");
    }
    assert_eq!(fixture.run("export").succeeds(), "");
}

#[test]
fn tables_without_triggers_give_fresh_responses() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.run("migrate --without-triggers").succeeds();
    let triggers = "SELECT CAST(tgname AS TEXT) FROM pg_trigger WHERE NOT tgisinternal";
    assert_eq!(fixture.session().texts(triggers), NONE);
    fixture.dir.write("courses.jsonl", COURSES);
    fixture.run("import courses.jsonl --no-migrate").succeeds();
    assert_eq!(fixture.run("export").succeeds(), COURSES);
    let (_, token) = fixture.key("a");
    let server = fixture.serve("--no-migrate");
    let (status, before) = server.get("/api/v1/courses", &token);
    assert_eq!(status, 200);
    fixture.dir.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\"}");
    fixture.run("import none.jsonl --prune --no-migrate").succeeds();
    let (status, after) = server.get("/api/v1/courses", &token);
    assert!(status == 200 && before != after && after.to_string().contains("[]"), "{after}");
    TestDir::new().run("migrate --without-triggers").fails(2, &["--without-triggers", "only for PostgreSQL"]);
    TestDir::new().run("migrate --citus").fails(2, &["--citus", "only for PostgreSQL"]);
    fixture.run("migrate --citus").fails(1, &["lacks the extension citus", "CREATE EXTENSION citus"]);
}

#[test]
fn dry_run_changes_nothing() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.dir.write("courses.jsonl", COURSES);
    let counts = fixture.run("import courses.jsonl --dry-run --json").json();
    assert_eq!((&counts["dryRun"], &counts["courses"]["added"]), (&json!(true), &json!(3)));
    assert_eq!(fixture.tables(), NONE);

    fixture.run("import courses.jsonl").succeeds();
    fixture.dir.write("none.jsonl", "{\"type\":\"account\",\"id\":\"a\"}");
    let counts = fixture.run("import none.jsonl --dry-run --prune --json").json();
    assert_eq!(counts["courses"]["removed"], 2);
    assert_eq!(fixture.run("export").succeeds(), COURSES);
}

/// PostgreSQL texts cannot contain U+0000.
#[test]
fn character_u_0000_survives_import_and_export() {
    let Some(fixture) = Fixture::new() else { return };
    let texts = ["\"name\":\"A", "b@example.org", "a body", "\"Zwei", "free"];
    let courses = texts.iter().fold(COURSES.to_owned(), |lines, text| {
        assert!(lines.contains(text), "{text}");
        lines.replace(text, &format!("{text}\\u0000\u{fffe}0"))
    });
    fixture.dir.write("zeros.jsonl", &courses);
    for _ in 0..2 {
        fixture.run("import zeros.jsonl").succeeds();
        assert_eq!(fixture.run("export").succeeds(), courses);
    }
    assert_eq!(fixture.run("import zeros.jsonl --json").json()["courses"]["unchanged"], 3);
}

#[test]
fn import_prints_same_output_as_on_sqlite() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let sqlite = TestDir::with_courses();
    let wrong = "{\"type\":\"account\",\"id\":\"c\"}\n\
               {\"type\":\"course\",\"account\":\"c\",\"slug\":\"s\",\"title\":\"t\",\"language\":\"en\"}\n\
               {\"type\":\"course\",\"account\":\"nobody\",\"slug\":\"s\",\"title\":\"t\",\"language\":\"en\"}\n\
               {\"type\":\"account\",\"id\":\"c\"}\n{\"type\":\"account\",\"id\":\"c\"}\n";
    let bad = format!("{}nonsense\n", wrong.replacen("\"}", "\",\"nam\":\"\"}", 1));
    let new = COURSES.replace("zwei", "drei").replace("Other", "New").replace("\"name\":\"A\"", "\"name\":\"B\"");
    for dir in [&fixture.dir, &sqlite] {
        dir.write("bad.jsonl", &bad);
        dir.write("wrong.jsonl", wrong);
        dir.write("new.jsonl", &new);
    }
    for (arguments, lines) in [("import bad.jsonl --dry-run", 3), ("import wrong.jsonl --dry-run", 4)] {
        let output = fixture.run(arguments).err;
        assert_eq!(output, sqlite.run(arguments).err);
        assert_eq!(output.lines().count(), lines, "{output}");
    }
    for arguments in ["import new.jsonl --prune --dry-run --json", "import new.jsonl --prune --json"] {
        let (output, expected) = (fixture.run(arguments).json(), sqlite.run(arguments).json());
        assert_eq!(output["changes"], expected["changes"]);
        assert_eq!((&output["accounts"], &output["courses"]), (&expected["accounts"], &expected["courses"]));
        assert!(output["database"].as_str().is_some_and(|name| name.starts_with("postgres://")), "{output}");
    }
    assert_eq!(fixture.run("export").succeeds(), sqlite.export());
}

#[test]
fn sigint_ends_import_that_waits_for_lock() {
    let Some(fixture) = Fixture::with_courses() else { return };
    fixture.dir.write("new.jsonl", COURSES.replace("One", "Two"));
    let session = fixture.session();
    session.run("BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    let mut import = fixture.command("import new.jsonl --no-migrate");
    let mut child = import.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let waiting = "SELECT CAST(pid AS TEXT) FROM pg_locks WHERE NOT granted AND relation = 'accounts'::regclass";
    while session.texts(waiting).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None);
    }
    let kill = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let outcome: Outcome = child.wait_with_output().unwrap().into();
    outcome.fails(130, &["interrupted; nothing was imported"]);
    session.run("ROLLBACK");
    assert_eq!(fixture.run("export").succeeds(), COURSES);
}

#[test]
fn import_with_invalid_line_changes_nothing() {
    let Some(fixture) = Fixture::with_courses() else { return };
    fixture.dir.write("bad.jsonl", "{\"type\":\"account\",\"id\":\"a\",\"name\":\"B\"}\nnonsense\n");
    fixture.run("import bad.jsonl").fails(1, &["bad.jsonl: line 2: "]);
    assert_eq!(fixture.run("export").succeeds(), COURSES);
}

#[test]
fn keys_and_tokens_are_created_listed_and_revoked() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let (id, _) = fixture.key("a");
    let token = fixture.run("tokens create --account a --scope read:profile --expires-in 1h --json").json();
    let listed = fixture.run("keys list --account a --json").json();
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|record| record["id"].clone()).collect();
    assert_eq!(ids, [json!(id), token["id"].clone()]);
    assert_eq!(fixture.run(&format!("keys revoke {id}")).succeeds(), format!("{id} is revoked\n"));
    assert!(fixture.run(&format!("keys revoke {id}")).succeeds().contains("was already revoked"));
    assert!(fixture.run("keys list --account a").succeeds().contains("revoked "));
    fixture.run("keys revoke key_1").fails(1, &["no credential has the id \"key_1\""]);
    fixture.run("keys list --account c").fails(1, &["no account \"c\""]);
    fixture.run("keys create --account c --name n --scope read:courses").fails(1, &["no account \"c\""]);
}

#[test]
fn commands_and_server_work_with_pooler_option() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.dir.write("courses.jsonl", COURSES);
    fixture.run("import courses.jsonl --database-pooler").succeeds();
    assert_eq!(fixture.run("--database-pooler export").succeeds(), COURSES);
    let (_, token) = fixture.key("a");
    let server = fixture.serve("--database-pooler --database-connections 1");
    assert_eq!(server.get("/api/v1/courses/one", &token).1["data"]["title"], "One");
}

#[test]
fn demo_adds_to_existing_data() {
    let Some(fixture) = Fixture::with_courses() else { return };
    for _ in 0..2 {
        let mut server = Server::start(fixture.command("demo --listen 127.0.0.1:0").stderr(Stdio::piped()));
        let notes = server.notes_until("Ctrl+C");
        assert!(notes.last().unwrap().contains("stay in the database"), "{notes:?}");
        let curl = notes.iter().find(|line| line.starts_with("curl ")).unwrap();
        let token = curl.split("Bearer ").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(server.get("/api/v1/me", token).1["data"]["userId"], "acc_demo");
        assert_eq!(server.stop_with("TERM").0, Some(0));
    }
    let export = fixture.run("export").succeeds();
    for line in COURSES.lines().chain(include_str!("../../../demo/courses.jsonl").lines()) {
        assert!(export.contains(line), "{line}");
    }
    assert_eq!(fixture.run("keys list --account acc_demo --json").json().as_array().unwrap().len(), 2);
}
