//! Equal rows in a host application's tables and in the catalogue's own give equal responses, byte for byte.

use super::app::App;
use super::rows::{lines, rows, statements};
use crate::equal_servers::Pair;
use crate::program::TestDir;

fn assert_equal_responses(framework: &'static str) {
    for app in App::of(framework) {
        let (rows, tables) = (rows(&app), TestDir::in_memory());
        app.sql(&statements(&app, &rows));
        tables.run_reading(lines(&app, &rows), "import -").succeeds();
        let found = app.run("views check --all");
        assert_eq!(found.status, Some(0), "{}: {found:?}", app.kind());
        let servers = [app.serve(""), tables.serve("--log off")];
        for number in 1..=3 {
            let account = app.account(number);
            let pair = Pair { servers: servers.each_ref(), keys: [app.key(&account), tables.key(&account)] };
            let rows = rows.iter().filter(|row| row.account == number && !row.deleted);
            pair.assert_all_equal(&account, &rows.map(|row| &*row.slug).collect::<Vec<_>>());
        }
    }
}

#[test]
fn django_tables_give_equal_responses() {
    assert_equal_responses("django");
}

#[test]
fn rails_tables_give_equal_responses() {
    assert_equal_responses("rails");
}

#[test]
fn laravel_tables_give_equal_responses() {
    assert_equal_responses("laravel");
}
