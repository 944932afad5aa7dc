//! Calls that write, made by a child process: those of every database, and those that SQLite writes differently.

use std::env;
use std::fs;
use std::path::Path;

use catalogue_core::AccountId;
use catalogue_core::Course;
use catalogue_core::admin::AdminStorage as _;
use catalogue_core::storage::StorageError;
use catalogue_sqlite::{OpenError, SqliteStorage};
use catalogue_storage_tests::outcomes::{self, ADMIN_CALLS, Call};

use crate::course;

pub(super) const RECORD_USES: Call = ADMIN_CALLS[0];
pub(super) const LARGE_IMPORT: Call = ("large import", ADMIN_CALLS[3].1);

/// Number of courses for which SQLite spills its list of dirty pages to a temporary file.
const SPILL_COURSES: usize = 14_000;
pub(super) const SPILLING_IMPORT: Call = ("spilling import", "SELECT count(*) > 14000 FROM courses");

/// Migration of a new database. The query accepts any schema version.
pub(super) const MIGRATION: Call = ("migrate", "SELECT user_version >= 1 FROM pragma_user_version");

pub(super) const CALL: &str = "CALL_UNDER_TEST";
pub(super) const KEY: &str = "KEY_UNDER_TEST";
/// The file to which the child writes the outcome of the call.
pub(super) const OUTCOME_FILE: &str = "outcome";

/// In a child process, makes the call that the environment names, on the database in the working directory.
#[tokio::test]
async fn makes_call() {
    let Ok(call) = env::var(CALL) else { return };
    let path = Path::new("catalogue.db");
    let outcome = match &*call {
        "migrate" => SqliteStorage::migrate(path).map(|_| ()).map_err(cause),
        call => run_call(call, &SqliteStorage::open(path).unwrap(), &env::var(KEY).unwrap()).await,
    };
    fs::write(OUTCOME_FILE, outcomes::report(outcome)).unwrap();
}

fn cause(error: OpenError) -> StorageError {
    match error {
        OpenError::Failed { source, .. } => source,
        other => panic!("{other:?}"),
    }
}

async fn run_call(call: &str, storage: &SqliteStorage, key: &str) -> Result<(), StorageError> {
    let account = AccountId::new("acc");
    match call {
        // Fills more than the first block of the WAL index.
        "large import" => {
            let mut large = course(&account);
            large.modules[0].content = "x".repeat(18 << 20);
            outcomes::import(storage, &large).await
        }
        "spilling import" => {
            let mut import = storage.begin_import().await?;
            for number in 0..SPILL_COURSES {
                let slug = format!("{number:0190}");
                import.put_course(&Course { slug, modules: Vec::new(), ..course(&account) }).await?;
            }
            import.commit().await
        }
        call => outcomes::run_call(call, storage, key).await,
    }
}
