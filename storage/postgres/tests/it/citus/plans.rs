//! Number of shards on which a statement runs.

use tokio_postgres::Client;

use super::cluster::Citus;
use crate::statements::{self, Declared};

/// Returns a value of the SQL type `of`.
fn value(of: &str) -> &'static str {
    match of {
        "TEXT" => "'acc'",
        "INT8" => "5",
        "BYTEA" => "decode(repeat('ab', 32), 'hex')",
        "UUID" => "CAST('00000000-0000-4000-8000-000000000000' AS uuid)",
        "BOOL" => "FALSE",
        "TEXT[]" => "ARRAY['a', 'b']",
        "BYTEA[]" => "ARRAY[decode('ab', 'hex')]",
        "INT8[]" => "ARRAY[1, 2]",
        other => panic!("a statement has a value of the type {other}"),
    }
}

/// Returns the number of shards on which Citus runs a statement, as a line of its plan.
async fn tasks(host: &Client, Declared { name, text, types }: &Declared) -> Vec<String> {
    let values: Vec<_> = types.iter().map(|of| value(of)).collect();
    let prepare = format!("DEALLOCATE ALL; PREPARE under_test ({}) AS {text}", types.join(", "));
    host.batch_execute(&prepare).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE under_test ({})", values.join(", "));
    let rows = host.query(&explain, &[]).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let lines = rows.iter().map(|row| row.get::<_, &str>(0).trim().to_owned());
    lines.filter(|line| line.starts_with("Task Count: ")).collect()
}

/// Returns the statements of `file`, except those named in `excluded`.
fn statements_in(file: &str, excluded: &[&str]) -> Vec<Declared> {
    statements::declared_in(file).into_iter().filter(|sql| !excluded.contains(&&*sql.name)).collect()
}

#[tokio::test]
async fn request_and_key_statements_run_as_one_task() {
    let Some(citus) = Citus::new().await else { return };
    citus.storage().await;
    let host = citus.host().await;
    // Exclude statements that others replace if tables are distributed, and those that run on several shards.
    let mut declared = statements_in("read.rs", &["FIND_CREDENTIAL"]);
    declared.extend(statements_in("citus/credentials.rs", &["REMOVE_ACCOUNTS_OF_DIGESTS"]));
    declared.extend(statements_in("citus/sign_ins.rs", &["PURGE_SIGN_INS"]));
    let others = ["OF_ACCOUNTS", "FIND", "LOCK_USED", "RECORD_USES"];
    declared.extend(statements_in("credentials.rs", &others));
    declared.extend(statements_in("sign_ins.rs", &["FIND_SIGN_IN", "REMOVE_PAST_RETENTION"]));
    declared.extend(statements_in("events.rs", &[]));
    // Statements of an import, except the copies, of which Citus sends each row to its shard.
    for file in ["import.rs", "writes.rs", "whole_course.rs"] {
        declared.extend(statements_in(file, &["COPY_COURSES", "COPY_MODULES", "COPY_CONTENTS"]));
    }
    assert!(declared.len() > 35, "{declared:?}");
    for sql in &declared {
        assert_eq!(tasks(&host, sql).await, ["Task Count: 1"], "{sql:?}");
    }
    let export = statements_in("export.rs", &["COURSES_OF_ONE"]);
    assert_eq!(tasks(&host, &export[0]).await, ["Task Count: 4"], "{export:?}");
}
