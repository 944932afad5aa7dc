//! Equal rows in a host application's tables and in the catalogue's own give equal responses, byte for byte.

use super::app::App;
use super::rows::{lines, rows, statements};
use crate::postgres::fixture::comparable_response;
use crate::program::{Server, TestDir};

/// Two servers whose responses must be equal, except for tag, request id and date.
struct Pair {
    servers: [Server; 2],
    keys: [(String, String); 2],
}

impl Pair {
    #[track_caller]
    fn assert_equal(&self, path: &str) -> String {
        let [views, tables] = [0, 1].map(|index| {
            let (id, token) = &self.keys[index];
            comparable_response(&self.servers[index].address, path, token).replace(id, "the key's id")
        });
        assert_eq!(views, tables, "{path}");
        views
    }
}

fn assert_equal_responses(framework: &'static str) {
    for app in App::of(framework) {
        let (rows, tables) = (rows(&app), TestDir::in_memory());
        app.sql(&statements(&app, &rows));
        tables.run_reading(lines(&app, &rows), "import -").succeeds();
        let found = app.run("views check --all");
        assert_eq!(found.status, Some(0), "{}: {found:?}", app.kind());
        for number in 1..=3 {
            let account = app.account(number);
            let create = format!("keys create --account {account} --name n --scope read:courses --json");
            let key = tables.run(&create).json();
            let text = |field: &str| key[field].as_str().unwrap().to_owned();
            let servers = [app.serve(""), Server::start(&mut tables.command("serve --listen 127.0.0.1:0 --log off"))];
            let pair = Pair { servers, keys: [app.key(&account), (text("id"), text("token"))] };
            assert!(pair.assert_equal("/api/v1/me").contains(&account));
            let slugs: Vec<_> = rows.iter().filter(|row| row.account == number && !row.deleted).collect();
            for limit in [1, 7, 50, 100] {
                let mut path = format!("/api/v1/courses?limit={limit}");
                let mut pages = 1;
                while let Some((_, cursor)) = pair.assert_equal(&path).split_once("\"nextCursor\":\"") {
                    path = format!("/api/v1/courses?limit={limit}&cursor={}", cursor.split_once('"').unwrap().0);
                    pages += 1;
                }
                assert_eq!(pages, slugs.len().div_ceil(limit).max(1), "at limit {limit}");
            }
            let absent = ["absent", "A", "a\0", "a/b", "deleted"].into_iter().map(|slug| (slug, "HTTP/1.1 404 "));
            for (slug, status) in slugs.iter().map(|row| (&*row.slug, "HTTP/1.1 200 ")).chain(absent) {
                let escaped: String = slug.bytes().map(|byte| format!("%{byte:02X}")).collect();
                assert!(pair.assert_equal(&format!("/api/v1/courses/{escaped}")).starts_with(status), "{slug:?}");
            }
            for path in ["/courses?limit=0", "/courses?cursor=x", "/absent", "/openapi.json"] {
                pair.assert_equal(&format!("/api/v1{path}"));
            }
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
