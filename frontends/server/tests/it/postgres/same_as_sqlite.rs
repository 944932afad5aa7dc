//! Exports and responses on PostgreSQL and SQLite, which are equal byte for byte for equal data.

use std::fmt::Write as _;

use crate::equal_servers::Pair;
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
    let Some(fixture) = TestDir::postgres() else { return };
    let (data, dirs) = (data(), [&fixture, &TestDir::new()]);
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
    let Some(fixture) = TestDir::postgres() else { return };
    let dirs = [&fixture, &TestDir::new()];
    dirs.iter().for_each(|dir| drop(dir.import(&data())));
    let servers = dirs.map(|dir| dir.serve(""));
    for account in ACCOUNTS {
        let pair = Pair { servers: servers.each_ref(), keys: dirs.map(|dir| dir.key(account)) };
        pair.assert_all_equal(account, &SLUGS);
    }
}
