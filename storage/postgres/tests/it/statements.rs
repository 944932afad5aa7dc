//! The statements keep to what PostgreSQL, Citus, YugabyteDB and CockroachDB share, and those of the request path to one
//! account.

use std::fs;
use std::path::Path;

/// What one of those engines lacks, or what the tables' spreading over machines forbids.
const FORBIDDEN: [&str; 16] = [
    "SERIAL", "SEQUENCE", "NEXTVAL", "IDENTITY", "ADVISORY", "LISTEN", "NOTIFY", "TEMP", "OFFSET", "ILIKE", "TRIGGER",
    "FUNCTION", "CURSOR", "LATERAL", "XMIN", "CTID",
];

/// The names and texts of the statements that a source file declares.
pub(crate) fn of_source(file: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = fs::read_to_string(path).unwrap();
    let mut declared = source.split("text: \"");
    let mut before = declared.next().unwrap();
    let (mut found, mut name) = (Vec::new(), "");
    for rest in declared {
        // Several may stand below one name.
        name = before.rsplit_once("const ").map_or(name, |(_, declared)| declared.split(':').next().unwrap());
        // A statement goes on in the next line after a backslash.
        let text = rest.split_once('"').unwrap().0.replace("\\\n", " ");
        found.push((name.to_owned(), text.split_whitespace().collect::<Vec<_>>().join(" ")));
        before = rest;
    }
    found
}

fn of_all_sources() -> Vec<(String, String)> {
    let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let files = sources.map(Result::unwrap).filter(|entry| entry.path().is_file());
    files.flat_map(|entry| of_source(entry.file_name().to_str().unwrap())).collect()
}

/// The statements of a file of SQL, without comments.
fn of_migration(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(file);
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code)).collect();
    let statements = lines.join(" ");
    let statements = statements.split(';').map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|text| !text.is_empty()).collect()
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[track_caller]
fn assert_plain(name: &str, sql: &str) {
    let found = words(sql).find(|word| FORBIDDEN.contains(&word.to_ascii_uppercase().as_str()));
    assert_eq!(found, None, "{name}: {sql}");
    assert!(!sql.contains("SELECT *") && !sql.contains(".*") && !sql.contains("RETURNING *"), "{name}: {sql}");
}

#[test]
fn statements_and_tables_are_plain() {
    let statements = of_all_sources();
    assert!(statements.len() > 20, "{statements:?}");
    for (name, sql) in statements {
        assert_plain(&name, &sql);
    }
    for sql in ["0001_initial.sql", "0002_last_use.sql", "0003_successors.sql"].into_iter().flat_map(of_migration) {
        assert_plain("tables", &sql);
        let made = ["CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ", "ALTER TABLE "];
        assert!(made.iter().any(|made| sql.starts_with(made)), "{sql}");
    }
}

#[test]
fn each_statement_of_the_request_path_names_one_account_and_no_body() {
    let statements = of_source("read.rs");
    assert_eq!(statements.len(), 6, "{statements:?}");
    for (name, sql) in statements {
        for read in sql.split(" FROM ").skip(1) {
            let (table, condition) = (read.split(' ').next().unwrap(), read.split_once(" WHERE ").unwrap().1);
            let key = match table {
                "accounts" => "id = $1",
                "credentials" => "digest = $1",
                _ => "account_id = $1",
            };
            assert!(condition.strip_prefix("c.").unwrap_or(condition).starts_with(key), "{name}: {sql}");
        }
        assert!(!sql.contains(" OR "), "{name}: {sql}");
        assert!(sql.starts_with("SELECT ") && !sql.contains("content"), "{name}: {sql}");
    }
}
