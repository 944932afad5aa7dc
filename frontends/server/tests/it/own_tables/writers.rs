//! Sessions of writers that resolve the names in the examples' triggers to other tables or functions, or skip triggers.

use super::app::{App, Names};

/// Sessions by name, with their first statements; `COURSES` and `LESSONS` stand for the tables.
const SESSIONS: [(&str, &str); 4] = [
    (
        "temporary tables",
        "CREATE TEMP TABLE catalogue_revisions (LIKE public.catalogue_revisions INCLUDING ALL);
         CREATE TEMP TABLE COURSES (LIKE public.COURSES); CREATE TEMP TABLE LESSONS (LIKE public.LESSONS)",
    ),
    (
        "a separate schema",
        "CREATE SCHEMA own; CREATE TABLE own.catalogue_revisions (LIKE public.catalogue_revisions INCLUDING ALL);
         CREATE TABLE own.COURSES (LIKE public.COURSES); CREATE TABLE own.LESSONS (LIKE public.LESSONS);
         CREATE FUNCTION own.catalogue_replace(accounts text[]) RETURNS void LANGUAGE sql AS '';
         SET search_path = own, public",
    ),
    ("no schema", "SET search_path = pg_catalog"),
    ("a replica's role", "SET session_replication_role = replica"),
];

/// The file of triggers also works if it is run twice.
#[test]
fn writer_session_does_not_affect_triggers() {
    for app in App::all_with_rows().filter(|app| app.is_postgres()) {
        app.sql(&app.revisions_example());
        app.sql(&app.revisions_example());
        let [account, other] = &app.accounts()[..2] else { unreachable!() };
        let (_, token) = app.key(account);
        let server = app.serve("");
        let Names { courses, owner, lessons } = app.names();
        for (number, (session, setup)) in SESSIONS.into_iter().enumerate() {
            let about = format!("{}: {session}", app.framework);
            let (writer, title) = (app.host(), format!("number {number}"));
            writer.run(&setup.replace("COURSES", courses).replace("LESSONS", lessons));
            let course = || server.get("/api/v1/courses/knots", &token);
            assert_eq!(course().0, 200, "{about}");
            writer.run(&format!("UPDATE public.{courses} SET title = '{title}' WHERE slug = 'knots'"));
            assert_eq!(course().1["data"]["title"], title, "{about}");
            writer.run(&format!("UPDATE public.{lessons} SET title = '{title}' WHERE title NOT LIKE 'Clove%'"));
            assert_eq!(course().1["data"]["modules"][0]["title"], title, "{about}");
            let moved = |to: &str| {
                writer.run(&format!("UPDATE public.{courses} SET {owner} = '{to}' WHERE slug = 'sailing'"));
                server.get("/api/v1/courses/sailing", &token).0
            };
            assert_eq!([moved(account), moved(other), moved(account)], [200, 404, 200], "{about}");
            writer.run(&format!("UPDATE public.{lessons} SET title = 'Bowline' WHERE title = '{title}'"));
        }
    }
}
