//! On how many shards a statement runs.

use tokio_postgres::Client;

use super::cluster::Citus;
use crate::statements::{self, Declared};

/// A value of that type, as SQL has it.
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

/// On how many shards Citus runs it.
async fn tasks(host: &Client, Declared { name, text, types }: &Declared) -> Vec<String> {
    let values: Vec<_> = types.iter().map(|of| value(of)).collect();
    let prepare = format!("DEALLOCATE ALL; PREPARE asked ({}) AS {text}", types.join(", "));
    host.batch_execute(&prepare).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE asked ({})", values.join(", "));
    let rows = host.query(&explain, &[]).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let lines = rows.iter().map(|row| row.get::<_, &str>(0).trim().to_owned());
    lines.filter(|line| line.starts_with("Task Count: ")).collect()
}

/// The statements of that file, but for those names.
fn of_file(file: &str, but: &[&str]) -> Vec<Declared> {
    statements::of_source(file).into_iter().filter(|sql| !but.contains(&&*sql.name)).collect()
}

#[tokio::test]
async fn each_statement_of_a_request_and_of_a_change_to_keys_is_one_task() {
    let Some(citus) = Citus::new().await else { return };
    citus.storage().await;
    let host = citus.host().await;
    // What is asked in another way where tables are spread.
    let mut declared = of_file("read.rs", &["FIND_CREDENTIAL"]);
    declared.extend(of_file("citus/credentials.rs", &["REMOVE_ACCOUNTS_OF_DIGESTS"]));
    declared.extend(of_file("citus/sign_ins.rs", &["PURGE_SIGN_INS"]));
    let others = ["OF_ACCOUNTS", "FIND", "LOCK_USED", "RECORD_USES"];
    declared.extend(of_file("credentials.rs", &others));
    declared.extend(of_file("sign_ins.rs", &["FIND_SIGN_IN", "REMOVE_PAST_RETENTION"]));
    declared.extend(of_file("events.rs", &[]));
    // An import's, but for the copies, of which Citus sends each row to its shard.
    for file in ["import.rs", "writes.rs", "whole_course.rs"] {
        declared.extend(of_file(file, &["COPY_COURSES", "COPY_MODULES", "COPY_CONTENTS"]));
    }
    assert!(declared.len() > 35, "{declared:?}");
    for sql in &declared {
        assert_eq!(tasks(&host, sql).await, ["Task Count: 1"], "{sql:?}");
    }
    let of_all = of_file("export.rs", &["COURSES_OF_ONE"]);
    assert_eq!(tasks(&host, &of_all[0]).await, ["Task Count: 4"], "{of_all:?}");
}
