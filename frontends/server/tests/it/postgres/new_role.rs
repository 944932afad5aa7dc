//! A role without the privilege to create tables: since PostgreSQL 15 the default, unless the role owns the database.

use catalogue_postgres_cluster::Cluster;

use super::fixture::{Fixture, url};
use crate::program::COURSES;

/// Creates a database and a `role` that may not create tables in `public`. Also returns the role's connection string.
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
fn missing_create_privilege_is_reported_with_grant_statement() {
    let Some((fixture, address)) = fixture("app-one") else { return };
    let grant = "GRANT CREATE ON SCHEMA public TO \"app-one\"";
    fixture.dir.write("courses.jsonl", COURSES);
    for command in ["migrate", "import courses.jsonl", "serve --listen 127.0.0.1:0"] {
        fixture
            .dir
            .run_in(&[("CATALOGUE_DATABASE", &address)], command)
            .fails(1, &["permission denied for schema public", &format!("; as the database's owner, run {grant}\n")]);
    }
    fixture.session().run(grant);
    fixture.dir.run_in(&[("CATALOGUE_DATABASE", &address)], "migrate").succeeds();
}

#[test]
fn empty_search_path_is_reported_with_alter_role_statement() {
    let Some((fixture, address)) = fixture("app-two") else { return };
    fixture.session().run("GRANT CREATE ON SCHEMA public TO \"app-two\"");
    let set = "ALTER ROLE \"app-two\" SET search_path = public";
    let pieces = [" has no schema in its search_path", &format!("; run {set}, or set --database-schema\n")];
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
fn missing_table_privilege_is_reported_with_database_message() {
    let Some((fixture, address)) = fixture("app-three") else { return };
    fixture.import(COURSES);
    fixture
        .dir
        .run_in(&[("CATALOGUE_DATABASE", &address)], "export")
        .fails(1, &["the role lacks a privilege: permission denied for table ", "; grant it"]);
}
