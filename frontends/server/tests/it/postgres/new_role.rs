//! A role that may not create tables, as PostgreSQL 15 leaves one that does not own the database.

use catalogue_postgres_cluster::Cluster;

use super::fixture::{Fixture, url};
use crate::program::COURSES;

/// A database with a role of the same name, which does not own it and may not create tables in `public`.
fn fixture(role: &str) -> Option<(Fixture, String)> {
    let fixture = Fixture::new()?;
    fixture.session().run(&format!(
        "CREATE ROLE \"{role}\" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC;
         DO $$ BEGIN EXECUTE format('GRANT ALL ON DATABASE %I TO \"{role}\"', current_database()); END $$"
    ));
    let name = fixture.address.rsplit_once('/').unwrap().1.to_owned();
    let address = url(Cluster::shared()?, &name).replace("postgres@", &format!("{role}@"));
    Some((fixture, address))
}

#[test]
fn migrate_says_what_to_grant_in_the_words_of_the_database() {
    let Some((fixture, address)) = fixture("app-one") else { return };
    let right = "GRANT CREATE ON SCHEMA public TO \"app-one\"";
    fixture.dir.write("courses.jsonl", COURSES);
    for command in ["migrate", "import courses.jsonl", "serve --listen 127.0.0.1:0"] {
        fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], command).fails(
            1,
            &["permission denied for schema public", &format!("; the owner of the database runs: {right}\n")],
        );
    }
    fixture.session().run(right);
    fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], "migrate").succeeds();
}

#[test]
fn without_a_schema_to_create_in_each_command_says_what_to_set() {
    let Some((fixture, address)) = fixture("app-two") else { return };
    fixture.session().run("GRANT CREATE ON SCHEMA public TO \"app-two\"");
    let set = "ALTER ROLE \"app-two\" SET search_path = public";
    let pieces = [
        "no schema of its search_path exists for the role",
        &format!("; run {set}, or name a schema by --database-schema\n"),
    ];
    fixture.session().run("ALTER ROLE \"app-two\" SET search_path = ''");
    for command in ["migrate", "import -", "export", "serve --listen 127.0.0.1:0"] {
        fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], command).fails(1, &pieces);
    }
    let doctor = fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], "doctor");
    assert!(doctor.out.contains(pieces[0]) && doctor.out.contains(set), "{doctor:?}");
    fixture.session().run(set);
    fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], "migrate").succeeds();
}

#[test]
fn a_privilege_that_is_lacking_is_named_by_the_database() {
    let Some((fixture, address)) = fixture("app-three") else { return };
    fixture.import(COURSES);
    fixture
        .dir
        .run_in(&[("CATALOGUE_DATABASE", &address)], "export")
        .fails(1, &["the role lacks a privilege: permission denied for table ", "; grant it to the role"]);
}
