//! A role without the privilege to create tables: since PostgreSQL 15 the default, unless the role owns the database.

use crate::program::{COURSES, TestDir};

#[test]
fn missing_privileges_are_reported_with_statement_that_grants_them() {
    let Some(mut fixture) = TestDir::postgres() else { return };
    let owner = fixture.host();
    owner.run(
        "CREATE ROLE \"app-one\" LOGIN; CREATE ROLE \"app-two\" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
         DO $$ BEGIN EXECUTE format('GRANT ALL ON DATABASE %I TO \"app-one\"', current_database()); END $$",
    );
    fixture.write("courses.jsonl", COURSES);
    fixture.address = fixture.address.replace("postgres@", "app-one@");
    let grant = "GRANT CREATE ON SCHEMA public TO \"app-one\"";
    for command in ["migrate", "import courses.jsonl", "serve --listen 127.0.0.1:0"] {
        let hint = format!("; as the database's owner, run {grant}\n");
        fixture.run(command).fails(1, &["permission denied for schema public", &hint]);
    }
    owner.run(grant);

    owner.run("ALTER ROLE \"app-one\" SET search_path = ''");
    let set = "ALTER ROLE \"app-one\" SET search_path = public";
    let pieces = [" has no schema in its search_path", &format!("; run {set}, or set --database-schema")];
    for command in ["migrate", "import -", "export", "serve --listen 127.0.0.1:0"] {
        fixture.run(command).fails(1, &pieces);
    }
    let doctor = fixture.run("doctor");
    assert!(pieces.iter().all(|piece| doctor.out.contains(piece)), "{doctor:?}");
    owner.run(set);
    fixture.run("migrate").succeeds();

    fixture.address = fixture.address.replace("app-one@", "app-two@");
    fixture.run("export").fails(1, &["the role lacks a privilege: permission denied for table ", "; grant it"]);
}
