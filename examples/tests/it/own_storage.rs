//! Tests of the school as a program. The suite in `own_storage/conformance.rs` tests that its tables are read correctly.

use crate::program::Host;

#[test]
fn sample_school_is_created_and_read() {
    let directory = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", directory.path().join("school.db").display());
    for start in ["creates the file", "finds it"] {
        let host = Host::start("own_storage", &database);
        assert_eq!(host.send("GET", "/about", "").body, "an example school", "{start}");
        let list = host.get("/api/v1/courses", "north-sample-key").json();
        let courses = list["data"].as_array().unwrap();
        let slugs: Vec<_> = courses.iter().map(|course| course["slug"].as_str().unwrap()).collect();
        assert_eq!(slugs, ["sailing", "knots", "rowing"]);
        assert_eq!(
            (&courses[1]["publishedAt"], &courses[1]["moduleCount"]),
            (&"2025-03-01T08:00:00.000Z".into(), &2.into())
        );
        assert_eq!((&courses[0]["publishedAt"].is_null(), &courses[2]["hidden"]), (&true, &true.into()));
        let course = host.get("/api/v1/courses/knots", "north-sample-key");
        assert_eq!(course.json()["data"]["modules"][1]["title"], "Clove hitch");
        assert!(!course.body.contains("Nor does the API show it"), "{}", course.body);
        assert_eq!(host.get("/api/v1/courses/knots", "south-sample-key").json()["data"]["title"], "Knoten");
        assert_eq!(host.get("/api/v1/courses/sailing", "south-sample-key").failure().0, 404);
        assert_eq!(host.get("/api/v1/courses", "nobodys-key").failure().0, 401);
        host.signal("TERM");
        assert_eq!(host.output().0, Some(0));
    }
}

#[test]
fn missing_tables_return_500() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("school.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE other (id)").unwrap();
    let host = Host::start("own_storage", &format!("sqlite:{}", path.display()));
    let failure = host.get("/api/v1/me", "north-sample-key");
    assert_eq!(failure.failure(), (500, "internal_error".to_owned()));
    assert!(!failure.body.contains("access_keys"), "{}", failure.body);
    host.signal("TERM");
    let (status, _, log) = host.output();
    assert_eq!(status, Some(0));
    assert!(log.contains("no such table: access_keys") && !log.contains("north-sample-key"), "{log}");
}
