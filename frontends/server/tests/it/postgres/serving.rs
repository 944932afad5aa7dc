//! `serve` on a database that several servers share and other programs write to.

use serde_json::json;

use super::fixture::Fixture;
use crate::program::Server;

fn titles(server: &Server, token: &str) -> Vec<String> {
    let (status, courses) = server.get("/api/v1/courses", token);
    assert_eq!(status, 200, "{courses}");
    courses["data"].as_array().unwrap().iter().map(|course| course["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn changes_by_commands_are_seen_by_all_servers() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let servers = [fixture.serve(""), fixture.serve("")];
    let (id, token) = fixture.key("a");
    for title in ["Drei", "Vier", "Fünf"] {
        fixture.import(&crate::program::COURSES.replace("Zwei", title));
        for server in &servers {
            assert_eq!(titles(server, &token), [title, "One"]);
        }
    }
    fixture.run(&format!("keys revoke {id}")).succeeds();
    for server in &servers {
        let (status, refusal) = server.get("/api/v1/courses", &token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("revoked")));
    }
}

#[test]
fn changes_by_plain_sql_are_seen_by_all_servers() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let servers = [fixture.serve(""), fixture.serve("")];
    let (_, token) = fixture.key("a");
    let session = fixture.session();
    for number in 0..20 {
        session.run(&format!("UPDATE courses SET title = 'Number {number}' WHERE account_id = 'a' AND slug = 'zwei'"));
        for server in &servers {
            assert_eq!(titles(server, &token)[0], format!("Number {number}"));
            let (_, course) = server.get("/api/v1/courses/zwei", &token);
            assert_eq!(course["data"]["title"], format!("Number {number}"));
        }
    }
    session.run("DELETE FROM courses WHERE account_id = 'a'");
    assert!(servers.iter().all(|server| titles(server, &token).is_empty()));
    session.run("UPDATE credentials SET revoked_at = 0");
    assert!(servers.iter().all(|server| server.get("/api/v1/me", &token).0 == 401));
}

#[test]
fn concurrently_started_servers_migrate_once() {
    let Some(fixture) = Fixture::new() else { return };
    let servers = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| fixture.serve(""))).collect();
        starting.into_iter().map(|server| server.join().unwrap()).collect::<Vec<_>>()
    });
    fixture.import(crate::program::COURSES);
    let (_, token) = fixture.key("a");
    assert!(servers.iter().all(|server| titles(server, &token) == ["Zwei", "One"]));
}
