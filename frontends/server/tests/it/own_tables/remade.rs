//! A migration of the other program makes the views again while clients read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::app::{App, FRAMEWORKS};

/// How often.
const TIMES: usize = 40;

/// What makes a view again waits for whoever reads it, and whoever reads comes in between where it waits.
#[test]
fn views_are_made_again_while_clients_read() {
    for app in FRAMEWORKS.into_iter().flat_map(App::with_rows) {
        // Without a WAL a writer keeps readers out.
        app.sql(&if app.is_postgres() { app.example("revisions") } else { "PRAGMA journal_mode = wal".to_owned() });
        let account = app.run("accounts list --json").json()[0]["id"].as_str().unwrap().to_owned();
        let (_, token) = app.key(&account);
        let example = app.dir.run(&format!("views example --from {} --for {}", app.framework, app.kind())).succeeds();
        let server = app.serve("--page-cache 0");
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            for path in ["/api/v1/courses", "/api/v1/courses?limit=7", "/api/v1/courses/knots", "/api/v1/me"] {
                let (server, token, is_done) = (&server, &token, &is_done);
                scope.spawn(move || {
                    while !is_done.load(Ordering::Relaxed) {
                        let (status, body) = server.get(path, token);
                        assert_eq!(status, 200, "{path}: {body}");
                    }
                });
            }
            let made = std::panic::catch_unwind(|| (0..TIMES).for_each(|_| app.sql(&example)));
            is_done.store(true, Ordering::Relaxed);
            made.unwrap_or_else(|_| panic!("{} {}", app.framework, app.kind()));
        });
    }
}
