//! Errors that leave the session open: the read is retried in the same session, and no session is closed.

use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{CourseStorage, StorageErrorKind};
use tokio_postgres::Client;

use crate::failures::lists;
use crate::schema::Schema;

/// Makes reads of the accounts fail with `code`, once per session or always. The session stays open.
async fn fail_accounts(host: &Client, code: &str, always: bool) {
    let trap = "
        CREATE FUNCTION fail(code TEXT, always BOOLEAN) RETURNS BOOLEAN LANGUAGE plpgsql AS $$ BEGIN
            -- An advisory lock of the session survives a failed statement, so it records that the session has failed once.
            IF always OR NOT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN
                PERFORM pg_advisory_lock(pg_backend_pid());
                RAISE EXCEPTION 'another server is unavailable' USING ERRCODE = code;
            END IF;
            RETURN TRUE;
        END $$;
        ALTER TABLE accounts RENAME TO stored;
        CREATE VIEW accounts AS SELECT k.id, k.name, k.email, k.revision FROM stored AS k WHERE fail('{code}', {always});
    ";
    let trap = trap.replace("{code}", code).replace("{always}", &always.to_string());
    host.batch_execute(&trap).await.unwrap();
}

/// Codes of errors after which a session stays open: a lost Citus worker (08006, 57P01), a standby's conflict, a deadlock.
const NON_FATAL_CODES: [&str; 4] = ["08006", "57P01", "40001", "40P01"];

#[tokio::test]
async fn non_fatal_error_is_retried_and_keeps_sessions_open() {
    for (code, always) in NON_FATAL_CODES.into_iter().flat_map(|code| [(code, false), (code, true)]) {
        let Some((schema, storage, account)) = Schema::with_course().await else { return };
        futures_util::future::join_all((0..5).map(|_| lists(&storage, &account))).await;
        let open = storage.status().await.unwrap().connections.idle;
        assert!(open > 1, "{open}");
        fail_accounts(&schema.host().await, code, always).await;
        let repeated = if code.starts_with("40") { StorageErrorKind::Busy } else { StorageErrorKind::Unavailable };
        for _ in 0..3 {
            let found = storage.revision(&account).await;
            let expected = if always { Err(repeated) } else { Ok(true) };
            assert_eq!(found.map(|found| found.is_some()).map_err(|error| error.kind()), expected, "{code}");
        }
        assert_eq!(storage.status().await.unwrap().connections.idle, open, "{code}");
    }
}

/// An operator can act on the kind and the message without knowing the SQLSTATE.
#[tokio::test]
async fn error_kind_and_message_match_sqlstate() {
    use StorageErrorKind::{AlreadyExists, Busy, Corrupt, InvalidValue, Other, Unavailable, UnknownReference};

    let Some((schema, storage, account)) = Schema::with_course().await else { return };
    let host = schema.host().await;
    fail_accounts(&host, "P0001", true).await;
    for (code, kind, message) in [
        ("P0001", Other, "the database failed"),
        ("57014", Unavailable, "took too long"),
        ("55P03", Busy, "another program is writing"),
        ("40001", Busy, "another program is writing"),
        ("40P01", Busy, "another program is writing"),
        ("25006", Unavailable, "read-only"),
        ("53100", Unavailable, "disk is full"),
        ("42501", Unavailable, "; grant it"),
        ("3D000", Unavailable, "the database does not exist"),
        ("23505", AlreadyExists, "the record already exists"),
        ("23503", UnknownReference, "the account does not exist"),
        ("23514", InvalidValue, "rejected the value"),
        ("23502", InvalidValue, "rejected the value"),
        ("08P01", Unavailable, "session settings were rejected"),
        ("42P05", Unavailable, "other clients share the session"),
        ("26000", Unavailable, "other clients share the session"),
        ("57P01", Unavailable, "starting or shutting down"),
        ("57P02", Unavailable, "starting or shutting down"),
        ("57P03", Unavailable, "starting or shutting down"),
        ("57P05", Unavailable, "starting or shutting down"),
        ("08006", Unavailable, "starting or shutting down"),
        ("22021", InvalidValue, "rejected the value"),
        ("28000", Unavailable, "authentication failed for this role"),
        ("42P01", Corrupt, "a different schema"),
        ("53200", Unavailable, "out of memory, disk space or connections"),
        ("58030", Unavailable, "system error on the database server"),
        ("XX001", Corrupt, "corrupt data"),
    ] {
        let columns = "k.id, k.name, k.email, k.revision";
        let fails =
            format!("CREATE OR REPLACE VIEW accounts AS SELECT {columns} FROM stored AS k WHERE fail('{code}', true)");
        host.batch_execute(&fails).await.unwrap();
        let error = storage.revision(&account).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{code}");
        assert!(error.to_string().contains(message), "{code}: {error}");
    }
}
