//! Requests that need no course succeed while the host application's file cannot be read.

use std::fs;

use catalogue_storage_tests::host_app::Client;

use super::host_app::{Kind, PLAIN};
use super::{anna, with_two_courses};

#[tokio::test]
async fn key_is_authenticated_while_courses_are_unreachable() {
    let host_app = with_two_courses(Kind { journal_mode: "delete", ..PLAIN }).await;
    let client = Client::new(&host_app.storage, &anna()).await;
    let get = async |path: &str| client.status(path).await;
    let (list, me) = ("/api/v1/courses", "/api/v1/me");
    assert_eq!((get(list).await, get(me).await), (200, 200));

    let writer = host_app.writer();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!((get(list).await, get(me).await), (500, 200));
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!((get(list).await, get(me).await), (200, 200));
    drop(writer);

    let elsewhere = host_app.directory.path().join("elsewhere");
    fs::rename(host_app.database(), &elsewhere).unwrap();
    let failed = crate::wait_until_new(async || get(list).await, |status| *status != 200).await;
    assert_eq!((failed, get(list).await, get(me).await), (500, 500, 200));
    fs::rename(elsewhere, host_app.database()).unwrap();
    assert_eq!((get(list).await, get(me).await), (200, 200));

    host_app.write("DROP VIEW catalogue_courses");
    assert_eq!((get(list).await, get(me).await), (500, 200));
}
