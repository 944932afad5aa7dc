//! Rotated keys and recorded uses.

use serde_json::json;

use super::scene::Scene;

#[test]
fn a_key_is_rotated_while_servers_run_and_its_use_is_recorded() {
    let Some(scene) = Scene::with_courses() else { return };
    let (id, token) = scene.key("a");
    let servers = [scene.serve(""), scene.serve("")];
    let new = scene.run(&format!("keys rotate {id} --overlap 1d --json")).json();
    assert_eq!(servers[0].get("/api/v1/me", &token).0, 200);
    let new_id = new["id"].as_str().unwrap();
    let has_one = format!("{id} has a successor, {new_id}, ");
    scene.run(&format!("keys rotate {id} --overlap 0s")).fails(1, &[&has_one, &format!("`keys revoke {id}`")]);
    scene.run(&format!("keys revoke {id}")).succeeds();
    let next = scene.run(&format!("keys rotate {new_id}")).out;
    for server in &servers {
        let (status, refusal) = server.get("/api/v1/me", &token);
        assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("revoked")));
        assert_eq!(server.get("/api/v1/me", new["token"].as_str().unwrap()).0, 200);
    }
    assert_eq!(servers[0].get("/api/v1/me", next.trim_end()).0, 200);
    for server in servers {
        assert_eq!(server.end_by("TERM").0, Some(0));
    }
    let listed = scene.run("keys list --account a --json").json();
    let used: Vec<_> = listed.as_array().unwrap().iter().map(|key| key["lastUsedAt"].is_string()).collect();
    assert_eq!(used, [true, true, true], "{listed}");
    scene.run(&format!("keys rotate {id}")).fails(1, &["was revoked at 2"]);
    for key in [&token, next.trim_end()] {
        let secret = &key[8..48];
        assert!(!scene.session().texts("SELECT CAST(c AS TEXT) FROM credentials AS c").concat().contains(secret));
    }
}
