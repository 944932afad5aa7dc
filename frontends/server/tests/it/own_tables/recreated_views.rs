//! A migration of the host application recreates the views while clients read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::app::App;

/// Number of times that the views are recreated.
const TIMES: usize = 40;

/// The statement that recreates a view waits for readers of the view. New readers may overtake the waiting statement.
#[test]
fn clients_get_200_while_views_are_recreated() {
    for app in App::all_with_rows() {
        // SQLite needs WAL mode: in rollback mode, a writer locks readers out.
        app.sql(&if app.is_postgres() { app.example("revisions") } else { "PRAGMA journal_mode = wal".to_owned() });
        let (_, token) = app.key(&app.accounts()[0]);
        let example = app.views_example();
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
            let outcome = std::panic::catch_unwind(|| (0..TIMES).for_each(|_| app.sql(&example)));
            is_done.store(true, Ordering::Relaxed);
            outcome.unwrap_or_else(|_| panic!("{} {}", app.framework, app.kind()));
        });
    }
}
