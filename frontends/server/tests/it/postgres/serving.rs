//! Servers that share a database.

use super::fixture::Fixture;
use crate::developer_settings::visitor::Visitor;

#[test]
fn servers_share_links_sessions_and_keys() {
    let Some(fixture) = Fixture::with_courses() else { return };
    let servers = [fixture.serve("--settings-url /settings"), fixture.serve("--settings-url /settings")];
    let link = fixture.run("settings link --account a --settings-url /settings").succeeds();
    let mut owner = Visitor::of(&servers[0].address);
    assert_eq!(owner.sign_in(&link).status, 303);
    let other = owner.at(&servers[1].address);
    assert_eq!(other.get("/settings").status, 200);
    assert_eq!(Visitor::of(&servers[1].address).sign_in(&link).status, 401, "a link works once");
    let (id, token) = other.create_key("partner");
    assert!(servers.iter().all(|server| server.get("/api/v1/courses", &token).0 == 200));
    assert_eq!(owner.post(&format!("/settings/keys/{id}/revoke"), "").status, 303);
    assert!(servers.iter().all(|server| server.get("/api/v1/courses", &token).0 == 401));
    fixture.run("settings sign-out --account a").succeeds();
    assert!([&owner, &other].iter().all(|owner| owner.get("/settings").status == 303));
    let log = fixture.run("keys log --account a --json").json();
    assert_eq!((&log[0]["action"], &log[1]["action"]), (&"signed_out".into(), &"key_revoked".into()), "{log}");
}
