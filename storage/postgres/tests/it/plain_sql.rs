//! Changes by plain SQL that only PostgreSQL has, and concurrent ones.

use catalogue_core::storage::PageRequest;
use catalogue_storage_tests::database::Database as _;
use catalogue_storage_tests::freshness::{DETAIL, LIST, Watched};

use crate::schema::Database;
use crate::stress::wait_until;
use crate::{import_one_course, items};

#[tokio::test]
async fn modules_of_concurrent_transactions_are_all_counted() {
    let Some(database) = Database::create().await else { return };
    let account = import_one_course(&database.storage).await;
    let add = |number| {
        format!(
            "INSERT INTO modules (account_id, course_slug, number, title) VALUES ('acc', 'course', {number}, 'New')"
        )
    };
    let other = database.schema.host().await;
    database.execute(&format!("BEGIN; {}", add(3))).await;
    let waits = tokio::spawn(async move { other.batch_execute(&add(4)).await });
    // Wait until the other transaction waits for this one.
    let waiting = "pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')";
    wait_until(async || database.count(waiting).await > 0).await;
    database.execute("COMMIT").await;
    waits.await.unwrap().unwrap();
    assert_eq!(items(&database.storage, &account, &PageRequest::default()).await.unwrap()[0].module_count, 4);
}

#[tokio::test]
async fn table_changes_do_not_fail_reads() {
    let Some(watched) = Watched::<Database>::new().await else { return };
    for change in [
        "ALTER TABLE courses ADD COLUMN hosts_own TEXT",
        "ALTER TABLE courses ALTER COLUMN title TYPE VARCHAR(500)",
        "ALTER TABLE modules ALTER COLUMN summary TYPE VARCHAR(500)",
        "DISCARD PLANS",
    ] {
        for path in [LIST, DETAIL] {
            assert_eq!(watched.get(path, "").await.status(), 200);
        }
        // Change the revision, so that the next response is not served from the cache.
        watched.database.execute(&format!("{change}; UPDATE courses SET tagline = '{change}'")).await;
        for path in [LIST, DETAIL] {
            assert_eq!(watched.get(path, "").await.status(), 200, "{change}");
        }
    }
}
