//! Exports and responses on PostgreSQL and SQLite, which are equal byte for byte for equal data.

use std::fmt::Write as _;

use super::fixture::{Fixture, comparable_response};
use crate::program::TestDir;

/// Texts that collations order differently from bytes, or consider equal.
const SLUGS: [&str; 12] = ["a", "B", "b", "ä", "a\u{308}", "Z", "_", "-", "a b", "é\u{200b}", "日本", "\u{10ffff}"];
const ACCOUNTS: [&str; 3] = ["acc", "Acc", "ácc"];

/// Returns an export with courses of three accounts: equal times, with and without a fraction, and every field.
fn data() -> String {
    let mut accounts = ACCOUNTS;
    accounts.sort_unstable();
    let mut slugs = SLUGS;
    slugs.sort_unstable();
    let mut text = String::new();
    for account in accounts {
        writeln!(text, r#"{{"type":"account","id":"{account}","name":"Ünïcode \" {account}","email":""}}"#).unwrap();
    }
    for account in accounts {
        for (index, slug) in slugs.iter().enumerate() {
            let time = ["2020-02-29T23:59:59Z", "1969-12-31T23:59:59.999999Z", "2020-02-29T23:59:59.120Z"][index % 3];
            let published = [format!("\"{time}\""), "null".to_owned()][index % 2].clone();
            let access = ["null", "\"\"", "\"free\""][index / 3 % 3];
            let modules: Vec<_> = (0..index % 4)
                .map(|number| format!(r#"{{"title":"{number}. <&>","summary":"{slug}","content":"body {number}\n"}}"#))
                .collect();
            writeln!(
                text,
                "{{\"type\":\"course\",\"account\":\"{account}\",\"slug\":\"{slug}\",\"title\":\"{account} {slug}\",\
                 \"tagline\":\"\u{2028}\",\"language\":\"de\",\"createdAt\":\"{time}\",\"publishedAt\":{published},\
                 \"hidden\":{},\"accessMode\":{access},\"modules\":[{}]}}",
                index % 5 == 0,
                modules.join(",")
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn export_equals_import_and_export_of_sqlite() {
    let Some(fixture) = Fixture::new() else { return };
    let (data, dirs) = (data(), [&*fixture, &TestDir::new()]);
    // A second import changes nothing.
    for _ in 0..2 {
        // The first line names the database.
        let [one, other] = dirs.map(|dir| dir.import(&data).split_once('\n').unwrap().1.to_owned());
        assert_eq!(one, other);
        assert_eq!(dirs.map(TestDir::export), [&*data; 2]);
    }
}

#[test]
fn responses_equal_those_of_sqlite() {
    let Some(fixture) = Fixture::new() else { return };
    let dirs = [&*fixture, &TestDir::new()];
    dirs.iter().for_each(|dir| drop(dir.import(&data())));
    let servers = dirs.map(|dir| dir.serve(""));
    for account in ACCOUNTS {
        let keys = dirs.map(|dir| dir.key(account));
        let assert_equal_with = |tokens: [&str; 2], path: &str| {
            let [one, other] = [0, 1].map(|index| {
                let (id, _) = &keys[index];
                comparable_response(&servers[index].address, path, tokens[index]).replace(id, "the key's id")
            });
            assert_eq!(one, other, "{path}");
            one
        };
        let assert_equal = |path: &str| assert_equal_with([&keys[0].1, &keys[1].1], path);
        assert!(assert_equal("/api/v1/me").contains(account));
        for limit in [1, 2, 5, 11, 12, 100] {
            let mut path = format!("/api/v1/courses?limit={limit}");
            let mut pages = 1;
            while let Some((_, cursor)) = assert_equal(&path).split_once("\"nextCursor\":\"") {
                path = format!("/api/v1/courses?limit={limit}&cursor={}", cursor.split_once('"').unwrap().0);
                pages += 1;
            }
            assert_eq!(pages, SLUGS.len().div_ceil(limit), "at limit {limit}");
        }
        for slug in SLUGS.iter().chain(&["absent", "A", "a\0", "a/b"]) {
            let escaped: String = slug.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let expected = if SLUGS.contains(slug) { "HTTP/1.1 200 " } else { "HTTP/1.1 404 " };
            assert!(assert_equal(&format!("/api/v1/courses/{escaped}")).starts_with(expected), "{slug:?}");
        }
        for path in ["/courses?limit=0", "/courses?cursor=x", "/absent", "/openapi.json"] {
            assert_equal(&format!("/api/v1{path}"));
        }
        assert!(assert_equal_with(["unknown"; 2], "/api/v1/courses").starts_with("HTTP/1.1 401 "));
    }
}
