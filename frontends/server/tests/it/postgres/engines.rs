//! Databases that speak PostgreSQL's protocol but are not PostgreSQL.

use super::fixture::Fixture;
use crate::program::COURSES;

/// A function `version()` in `public` simulates another engine. It has precedence, as the search path lists `pg_catalog` last.
#[test]
fn every_command_refuses_other_engines_without_changes() {
    let Some(mut fixture) = Fixture::new() else { return };
    fixture.address += "?options=-c%20search_path%3Dpublic%2Cpg_catalog";
    fixture.dir.write("courses.jsonl", COURSES);
    let cockroachdb = "CREATE FUNCTION version() RETURNS TEXT LANGUAGE SQL AS $$SELECT 'CockroachDB CCL v25.1.0'$$";
    fixture.session().run(cockroachdb);
    for arguments in [
        "migrate",
        "migrate --without-triggers",
        "migrate --citus",
        "serve --listen 127.0.0.1:0",
        "serve --no-migrate --wait --listen 127.0.0.1:0",
        "demo --listen 127.0.0.1:0",
        "doctor",
        "import courses.jsonl",
        "import courses.jsonl --dry-run",
        "export",
        "accounts list",
        "keys list --account a",
        "keys create --account a --name n --scope read:courses",
        "tokens create --account a --scope read:courses",
    ] {
        let outcome = fixture.run(arguments);
        let output = format!("{}{}", outcome.out, outcome.err);
        assert_eq!(outcome.status, Some(1), "{arguments}: {output}");
        assert!(output.contains("unsupported database CockroachDB; use PostgreSQL"), "{arguments}: {output}");
    }
    assert_eq!(fixture.tables(), [""; 0]);
    fixture.session().run("DROP FUNCTION public.version()");
    fixture.run("import courses.jsonl").succeeds();
    assert_eq!(fixture.run("export").succeeds(), COURSES);
}
