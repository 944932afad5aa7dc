//! Missing triggers of the examples: commands report them, and responses are not cached.

use std::process::Stdio;

use super::app::{App, FRAMEWORKS};
use super::changes::names;
use super::checks::findings;
use crate::program::Server;

#[test]
fn missing_trigger_is_reported_and_responses_are_not_cached() {
    for app in FRAMEWORKS.into_iter().flat_map(App::with_rows).filter(App::is_postgres) {
        app.sql(&app.example("revisions"));
        let output = || app.run("views check").succeeds();
        let warned = || findings(&app.run("doctor --json"), "revisions", "warning");
        assert!(!output().contains("trigger") && warned().is_empty(), "{}: {}", app.framework, output());
        let (courses, _) = names(&app);
        app.sql(&format!("DROP TRIGGER catalogue_changed ON {courses}"));
        let what = format!("public.{courses} has no enabled trigger for INSERT, UPDATE, DELETE");
        for output in [output(), warned().concat()] {
            assert!(output.contains(&what) && output.contains("revisions.postgres.sql"), "{output}");
        }
        let account = app.run("accounts list --json").json()[0]["id"].as_str().unwrap().to_owned();
        let (_, token) = app.key(&account);
        let mut command = app.command("serve --listen 127.0.0.1:0 --log warn");
        let mut server = Server::start(command.stderr(Stdio::piped()));
        server.notes_until(&what);
        for title in ["first", "second"] {
            app.sql(&format!("UPDATE {courses} SET title = '{title}' WHERE slug = 'knots'"));
            let (_, course) = server.get("/api/v1/courses/knots", &token);
            assert_eq!(course["data"]["title"], title, "{}", app.framework);
        }
        app.sql(&app.example("revisions"));
        assert!(!output().contains("trigger") && warned().is_empty(), "{}: {}", app.framework, output());
    }
}
