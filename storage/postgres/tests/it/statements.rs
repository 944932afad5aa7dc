//! The statements can be spread over the nodes of Citus, and those of the request path name one account.

use std::fs;
use std::path::Path;

/// A statement that a source file declares.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The types of its values, as SQL names them.
    pub(crate) types: Vec<String>,
}

/// The statements that a source file declares.
pub(crate) fn of_source(file: &str) -> Vec<Declared> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = fs::read_to_string(path).unwrap();
    let mut declared = source.split("text: \"");
    let mut before = declared.next().unwrap();
    let (mut found, mut name) = (Vec::new(), "");
    for rest in declared {
        // Several may stand below one name.
        name = before.rsplit_once("const ").map_or(name, |(_, declared)| declared.split(':').next().unwrap());
        // A statement goes on in the next line after a backslash.
        let (text, after) = rest.split_once('"').unwrap();
        let text = text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let types = after.split_once("types: &[").unwrap().1.split_once(']').unwrap().0;
        let types = words(types).filter(|word| !["", "Type"].contains(word)).map(sql_type).collect();
        found.push(Declared { name: name.to_owned(), text, types });
        before = rest;
    }
    found
}

/// `INT8_ARRAY` of the driver is `INT8[]` of SQL.
fn sql_type(driver: &str) -> String {
    driver.strip_suffix("_ARRAY").map_or(driver.to_owned(), |element| format!("{element}[]"))
}

fn of_all_sources() -> Vec<Declared> {
    let mut found = Vec::new();
    for folder in ["", "citus"] {
        let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder)).unwrap();
        let files = sources.map(Result::unwrap).filter(|entry| entry.path().is_file());
        found.extend(files.flat_map(|entry| of_source(Path::new(folder).join(entry.file_name()).to_str().unwrap())));
    }
    found
}

fn of_migration(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code)).collect();
    let statements = lines.join(" ");
    let statements = statements.split(';').map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|text| !text.is_empty()).collect()
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// The names that stand before a parenthesis without a blank.
fn functions(sql: &str) -> impl Iterator<Item = &str> {
    let calls = sql.match_indices('(').map(|(at, _)| words(&sql[..at]).last().unwrap());
    calls.filter(|name| !name.is_empty())
}

/// What each node would make of a row by itself, Citus does not let a change of distributed tables say.
fn may_change(sql: &str) -> bool {
    functions(sql).all(|name| ["coalesce", "least", "unnest", "ANY"].contains(&name))
}

/// Changes that are made only where tables are not spread over nodes; there `citus::purge` removes the same rows. `ANY(ARRAY(…))`
/// runs the subquery once: in a join it may be run again, and beyond its limit, as it passes over the rows that are locked by now.
const ON_ONE_NODE: [&str; 2] = ["REMOVE_REVOCATIONS_PAST_RETENTION", "REMOVE_PAST_RETENTION"];

#[test]
fn a_change_of_rows_says_the_same_on_every_node() {
    let changes: Vec<_> = of_all_sources().into_iter().filter(|sql| !sql.text.starts_with("SELECT ")).collect();
    assert!(changes.iter().filter(|sql| sql.text.starts_with("UPDATE ")).count() > 4, "{changes:?}");
    let (on_one_node, changes): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|sql| ON_ONE_NODE.contains(&&*sql.name));
    assert_eq!(on_one_node.len(), ON_ONE_NODE.len(), "{on_one_node:?}");
    for Declared { name, text, .. } in changes {
        assert!(may_change(&text), "{name}: {text}");
    }
    for volatile in ["gen_random_uuid()", "now()", "pg_catalog.clock_timestamp()", "coalesce(random(), 1)"] {
        assert!(!may_change(&format!("UPDATE accounts SET revision = {volatile} WHERE id = $1")), "{volatile}");
    }
}

/// Whether the statement reads a run of several courses or accounts by a comparison of both keys.
fn is_range_of_courses(sql: &str) -> bool {
    let keys = sql.split('(').filter_map(|part| part.split_once(')'));
    let mut of_account = keys.filter(|(columns, _)| words(columns).next().is_some_and(|first| !first.is_empty()));
    of_account.any(|(columns, after)| columns.contains("account_id") && after.trim_start().starts_with(['<', '>']))
}

#[test]
fn only_the_walk_of_an_export_compares_whole_keys_of_courses() {
    let ranges: Vec<_> = of_all_sources().into_iter().filter(|sql| is_range_of_courses(&sql.text)).collect();
    assert_eq!(ranges.iter().map(|sql| &*sql.name).collect::<Vec<_>>(), ["COURSES"], "{ranges:?}");
    assert!(is_range_of_courses("SELECT 1 FROM modules AS m WHERE (m.account_id, m.course_slug) >= ($1, $2)"));
}

/// Asserts that each table is read, or changed, by its first key.
#[track_caller]
fn assert_names_one_account(Declared { name, text, .. }: &Declared) {
    // What a subquery reads is looked at by itself.
    let read = text.split(" FROM ").skip(1).filter(|read| !read.starts_with("(SELECT "));
    let changed = text.strip_prefix("UPDATE ");
    for read in read.chain(changed) {
        let (table, condition) = (read.split(' ').next().unwrap(), read.split_once(" WHERE ").unwrap().1);
        let key = match table {
            "accounts" => "id = $1",
            "credentials" | "revoked_tokens" => "digest = $",
            _ => "account_id = $1",
        };
        let condition = condition
            .split_once('.')
            .map_or(condition, |(alias, rest)| if alias.len() == 1 { rest } else { condition });
        assert!(condition.starts_with(key), "{name}: {text}");
    }
    assert!(!text.contains(" OR "), "{name}: {text}");
}

#[test]
fn each_statement_of_the_request_path_names_one_account_and_no_body() {
    let statements = of_source("read.rs");
    assert_eq!(statements.len(), 5, "{statements:?}");
    for sql in statements {
        assert_names_one_account(&sql);
        assert!(sql.text.starts_with("SELECT ") && !sql.text.contains("content"), "{sql:?}");
    }
}

#[test]
fn each_statement_of_an_import_names_one_account() {
    let statements: Vec<_> = ["import.rs", "writes.rs", "whole_course.rs"].into_iter().flat_map(of_source).collect();
    assert_eq!(statements.len(), 14, "{statements:?}");
    for sql in statements.iter().filter(|sql| !["INSERT ", "COPY "].iter().any(|adds| sql.text.starts_with(adds))) {
        assert_names_one_account(sql);
    }
}

/// What a cluster of Citus runs on all nodes: never for a request, and never in what must not wait.
const OF_ALL_NODES: [&str; 5] = [
    "PURGE_REVOCATIONS",
    "PURGE_SIGN_INS",
    "PURGE_SIGN_INS",
    "REMOVE_ACCOUNTS_OF_CREDENTIALS",
    "REMOVE_ACCOUNTS_OF_DIGESTS",
];

#[test]
fn each_statement_for_citus_names_one_account_or_digest() {
    let statements: Vec<_> = ["mod.rs", "credentials.rs", "sign_ins.rs"]
        .into_iter()
        .flat_map(|file| of_source(&format!("citus/{file}")))
        .filter(|sql| !sql.text.starts_with("INSERT "))
        .collect();
    let mut of_all_nodes = Vec::new();
    for sql in &statements {
        // Of credentials this table is on every node.
        let is_everywhere = sql.text.starts_with("SELECT account_id FROM credential_accounts WHERE ");
        let is_routed = [" account_id = $1", " c.account_id = $1", " s.account_id = $1", " digest = $1"]
            .iter()
            .any(|key| sql.text.contains(&format!(" WHERE{key}")));
        if sql.text.contains("FROM sign_in_accounts WHERE account_id") || !is_everywhere && !is_routed {
            of_all_nodes.push(sql.name.as_str());
        }
    }
    assert_eq!(statements.len(), 12, "{statements:?}");
    of_all_nodes.sort_unstable();
    assert_eq!(of_all_nodes, OF_ALL_NODES);
}

#[test]
fn constraints_of_tables_for_citus_have_names() {
    let statements = of_migration(&Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/citus/tables.sql"));
    assert!(statements.len() > 8, "{statements:?}");
    for sql in statements {
        assert!(!sql.starts_with("ALTER TABLE ") || sql.contains(" CONSTRAINT "), "{sql}");
    }
}
