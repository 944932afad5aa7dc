//! Rules for statements, so that tables can be distributed over Citus nodes. `plans` checks that each names one account.

use std::fs;
use std::path::Path;

/// A statement that a source file declares.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) text: String,
    /// SQL types of the parameters.
    pub(crate) types: Vec<String>,
}

/// Returns the statements that a source file declares.
pub(crate) fn declared_in(file: &str) -> Vec<Declared> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = fs::read_to_string(path).unwrap();
    let mut declared = source.split("text: \"");
    let mut before = declared.next().unwrap();
    let (mut found, mut name) = (Vec::new(), "");
    for rest in declared {
        // A constant may contain several statements.
        name = before.rsplit_once("const ").map_or(name, |(_, declared)| declared.split(':').next().unwrap());
        // A backslash continues a statement on the next line.
        let (text, after) = rest.split_once('"').unwrap();
        let text = text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let types = after.split_once("types: &[").unwrap().1.split_once(']').unwrap().0;
        let types = words(types).filter(|word| !["", "Type"].contains(word)).map(sql_type).collect();
        found.push(Declared { name: name.to_owned(), text, types });
        before = rest;
    }
    found
}

/// Converts a type name of the driver to SQL: `INT8_ARRAY` is `INT8[]`.
fn sql_type(driver: &str) -> String {
    driver.strip_suffix("_ARRAY").map_or(driver.to_owned(), |element| format!("{element}[]"))
}

fn all_declared() -> Vec<Declared> {
    let mut found = Vec::new();
    for folder in ["", "citus"] {
        let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder)).unwrap();
        let files = sources.map(Result::unwrap).filter(|entry| entry.path().is_file());
        found.extend(files.flat_map(|entry| declared_in(Path::new(folder).join(entry.file_name()).to_str().unwrap())));
    }
    found
}

fn migration_statements(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code)).collect();
    let statements = lines.join(" ");
    let statements = statements.split(';').map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|text| !text.is_empty()).collect()
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Returns the names that are directly followed by a parenthesis.
fn functions(sql: &str) -> impl Iterator<Item = &str> {
    let calls = sql.match_indices('(').map(|(at, _)| words(&sql[..at]).last().unwrap());
    calls.filter(|name| !name.is_empty())
}

/// Returns whether a change calls only functions that Citus accepts: each node would evaluate others differently.
fn may_change(sql: &str) -> bool {
    functions(sql).all(|name| ["coalesce", "least", "unnest", "ANY"].contains(&name))
}

/// Removals from tables that are not distributed; `citus::purge` removes such rows from distributed ones. `ANY(ARRAY(…))` runs
/// the subquery once. A join may run it again, which skips the rows locked by then and so exceeds the limit.
const ON_ONE_NODE: [&str; 2] = ["REMOVE_REVOCATIONS_PAST_RETENTION", "REMOVE_PAST_RETENTION"];

#[test]
fn row_changes_are_deterministic_on_every_node() {
    let changes: Vec<_> = all_declared().into_iter().filter(|sql| !sql.text.starts_with("SELECT ")).collect();
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

/// Returns whether the statement reads a range of several courses or accounts by a comparison of both keys.
fn is_range_of_courses(sql: &str) -> bool {
    let keys = sql.split('(').filter_map(|part| part.split_once(')'));
    let mut account_keys = keys.filter(|(columns, _)| words(columns).next().is_some_and(|first| !first.is_empty()));
    account_keys.any(|(columns, after)| columns.contains("account_id") && after.trim_start().starts_with(['<', '>']))
}

#[test]
fn only_export_compares_composite_course_keys() {
    let ranges: Vec<_> = all_declared().into_iter().filter(|sql| is_range_of_courses(&sql.text)).collect();
    assert_eq!(ranges.iter().map(|sql| &*sql.name).collect::<Vec<_>>(), ["COURSES"], "{ranges:?}");
    assert!(is_range_of_courses("SELECT 1 FROM modules AS m WHERE (m.account_id, m.course_slug) >= ($1, $2)"));
}

/// Statements that Citus runs on all nodes: never for a request, and never in a call that must not wait.
const ALL_NODE_STATEMENTS: [&str; 5] = [
    "PURGE_REVOCATIONS",
    "PURGE_SIGN_INS",
    "PURGE_SIGN_INS",
    "REMOVE_ACCOUNTS_OF_CREDENTIALS",
    "REMOVE_ACCOUNTS_OF_DIGESTS",
];

#[test]
fn citus_statements_name_one_account_or_digest() {
    let statements: Vec<_> = ["mod.rs", "credentials.rs", "sign_ins.rs"]
        .into_iter()
        .flat_map(|file| declared_in(&format!("citus/{file}")))
        .filter(|sql| !sql.text.starts_with("INSERT "))
        .collect();
    let mut all_node_statements = Vec::new();
    for sql in &statements {
        // `credential_accounts` is on every node.
        let is_everywhere = sql.text.starts_with("SELECT account_id FROM credential_accounts WHERE ");
        let is_routed = [" account_id = $1", " c.account_id = $1", " s.account_id = $1", " digest = $1"]
            .iter()
            .any(|key| sql.text.contains(&format!(" WHERE{key}")));
        if sql.text.contains("FROM sign_in_accounts WHERE account_id") || !is_everywhere && !is_routed {
            all_node_statements.push(sql.name.as_str());
        }
    }
    assert_eq!(statements.len(), 12, "{statements:?}");
    all_node_statements.sort_unstable();
    assert_eq!(all_node_statements, ALL_NODE_STATEMENTS);
}

#[test]
fn citus_constraints_have_names() {
    let statements = migration_statements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/citus/tables.sql"));
    assert!(statements.len() > 8, "{statements:?}");
    for sql in statements {
        assert!(!sql.starts_with("ALTER TABLE ") || sql.contains(" CONSTRAINT "), "{sql}");
    }
}
