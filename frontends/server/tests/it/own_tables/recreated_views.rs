//! A migration of the host application recreates the views while clients read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::app::App;
use crate::upgrade::clients::Ending;

/// Number of times that the views are recreated.
const TIMES: usize = 40;

/// The statement that recreates a view waits for readers of the view. New readers may overtake the waiting statement.
#[test]
fn clients_get_200_while_views_are_recreated() {
    for app in App::all_with_rows() {
        // SQLite needs WAL mode: in rollback mode, a writer locks readers out.
        app.sql(&if app.is_postgres() { app.revisions_example() } else { "PRAGMA journal_mode = wal".to_owned() });
        let (_, token) = app.key(&app.accounts()[0]);
        let example = app.views_example();
        let (server, framework) = (app.serve("--page-cache 0"), app.framework);
        let is_running = AtomicBool::new(true);
        thread::scope(|scope| {
            for path in ["/api/v1/courses", "/api/v1/courses?limit=7", "/api/v1/courses/knots", "/api/v1/me"] {
                let (server, token, is_running) = (&server, &token, &is_running);
                scope.spawn(move || {
                    while is_running.load(Ordering::Relaxed) {
                        let (status, body) = server.get(path, token);
                        assert_eq!(status, 200, "{framework} {path}: {body}");
                    }
                });
            }
            let _ending = Ending(&is_running);
            (0..TIMES).for_each(|_| app.sql(&example));
        });
    }
}
