//! An error that does not end its session: the read is asked again in it, and no session is closed.

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, StorageErrorKind};
use tokio_postgres::Client;

use crate::failures::{kind, lists};
use crate::import_one_course;
use crate::schema::Schema;

/// Reading the accounts now fails with that code, in each session the first time or always. The session goes on.
async fn fail_accounts(host: &Client, code: &str, always: bool) {
    let trap = "
        CREATE FUNCTION fail(code TEXT, always BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
            -- This lock is all that a session keeps of a statement that failed.
            IF always OR NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN
                PERFORM pg_advisory_lock(pg_backend_pid());
                RAISE EXCEPTION 'a server behind this one is away' USING ERRCODE = code;
            END IF;
            RETURN TRUE;
        END $$;
        ALTER TABLE accounts RENAME TO kept;
        CREATE VIEW accounts AS SELECT k.id, k.name, k.email, k.revision FROM kept AS k WHERE fail('{code}', {always});
    ";
    let trap = trap.replace("{code}", code).replace("{always}", &always.to_string());
    host.batch_execute(&trap).await.unwrap();
}

/// 08006 and 57P01 are what Citus says of a worker, 40001 is said by a standby, and 40P01 beside a change of tables.
const NON_FATAL_CODES: [&str; 4] = ["08006", "57P01", "40001", "40P01"];

#[tokio::test]
async fn an_error_of_a_session_that_goes_on_is_asked_again_in_it() {
    for code in NON_FATAL_CODES {
        let Some(schema) = Schema::new().await else { return };
        let storage = schema.storage().await;
        let account = import_one_course(&storage).await;
        futures_util::future::join_all((0..5).map(|_| lists(&storage, &account))).await;
        let open = storage.status().await.unwrap().connections.idle;
        assert!(open > 1, "{open}");
        fail_accounts(&schema.host().await, code, false).await;
        assert!(storage.revision(&account).await.unwrap().is_some(), "{code}");
        assert_eq!(storage.status().await.unwrap().connections.idle, open, "{code}");
    }
}

#[tokio::test]
async fn an_error_of_a_session_that_goes_on_closes_no_session() {
    for code in NON_FATAL_CODES {
        let Some(schema) = Schema::new().await else { return };
        let storage = schema.storage().await;
        let account = import_one_course(&storage).await;
        futures_util::future::join_all((0..5).map(|_| lists(&storage, &account))).await;
        let open = storage.status().await.unwrap().connections.idle;
        fail_accounts(&schema.host().await, code, true).await;
        let expected = if code.starts_with("40") { StorageErrorKind::Busy } else { StorageErrorKind::Unavailable };
        for _ in 0..3 {
            assert_eq!(kind(storage.revision(&account).await), Some(expected), "{code}");
        }
        assert_eq!(storage.status().await.unwrap().connections.idle, open, "{code}");
    }
}

/// By kind and words an operator tells what to do; the code stays as the cause.
#[tokio::test]
async fn each_code_is_told_by_what_to_do_about_it() {
    use StorageErrorKind::{AlreadyExists, Busy, Corrupt, InvalidValue, Other, Unavailable, UnknownReference};

    let Some(schema) = Schema::new().await else { return };
    let storage = schema.storage().await;
    let account = import_one_course(&storage).await;
    let host = schema.host().await;
    fail_accounts(&host, "P0001", true).await;
    for (code, kind, words) in [
        ("P0001", Other, "the database failed"),
        ("57014", Unavailable, "took too long"),
        ("55P03", Busy, "another program is writing"),
        ("40001", Busy, "another program is writing"),
        ("40P01", Busy, "another program is writing"),
        ("25006", Unavailable, "read-only"),
        ("53100", Unavailable, "disk is full"),
        ("42501", Unavailable, "; grant it to the role"),
        ("3D000", Unavailable, "no database of this name"),
        ("23505", AlreadyExists, "such a record"),
        ("23503", UnknownReference, "no such account"),
        ("23514", InvalidValue, "such a value"),
        ("23502", InvalidValue, "such a value"),
        ("08P01", Unavailable, "settings of a session"),
        ("42P05", Unavailable, "session is shared"),
        ("26000", Unavailable, "session is shared"),
        ("57P01", Unavailable, "stopping or starting"),
        ("57P02", Unavailable, "stopping or starting"),
        ("57P03", Unavailable, "stopping or starting"),
        ("57P05", Unavailable, "stopping or starting"),
        ("08006", Unavailable, "stopping or starting"),
        ("22021", InvalidValue, "such a value"),
        ("28000", Unavailable, "does not let this role in"),
        ("42P01", Corrupt, "another schema"),
        ("53200", Unavailable, "no room"),
        ("58030", Unavailable, "machine failed"),
        ("XX001", Corrupt, "damaged"),
    ] {
        let columns = "k.id, k.name, k.email, k.revision";
        let fails =
            format!("CREATE OR REPLACE VIEW accounts AS SELECT {columns} FROM kept AS k WHERE fail('{code}', true)");
        host.batch_execute(&fails).await.unwrap();
        let error = storage.revision(&account).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{code}");
        assert!(error.to_string().contains(words), "{code}: {error}");
    }
}
