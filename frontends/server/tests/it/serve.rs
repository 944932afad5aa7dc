//! `catalogue serve`

use std::net::TcpListener;

use serde_json::json;

use crate::program::{Place, Server};

#[test]
fn answers_and_ends_with_0_when_told_to() {
    let place = Place::with_courses();
    let token = place.run("keys create --account a --name n --scope read:courses").succeeds();
    for signal in ["TERM", "INT"] {
        let server = Server::start(&mut place.command("serve --listen 127.0.0.1:0 --log warn"));
        let (status, me) = server.get("/api/v1/me", token.trim_end());
        assert_eq!((status, &me["data"]["userId"]), (200, &json!("a")));
        let (status, courses) = server.get("/api/v1/courses", token.trim_end());
        assert_eq!(
            (status, &courses["data"][0]["slug"], &courses["data"][1]["slug"]),
            (200, &json!("zwei"), &json!("one"))
        );
        assert_eq!(server.get("/api/v1/courses/one", token.trim_end()).1["data"]["modules"][0]["title"], "M");
        assert_eq!(server.get("/api/v1/courses/one", "ccat_wrong").0, 401);
        assert_eq!(server.get("/docs/openapi.json", "").0, 200);
        assert_eq!(server.end_by(signal), (Some(0), String::new()), "{signal}");
    }
}

#[test]
fn sees_what_other_commands_change_meanwhile() {
    let place = Place::with_courses();
    let server = Server::start(&mut place.command("serve --listen 127.0.0.1:0"));
    let key = place.run("keys create --account a --name n --scope read:courses --json").json();
    let token = key["token"].as_str().unwrap();
    assert_eq!(server.get("/api/v1/courses", token).1["data"].as_array().unwrap().len(), 2);
    place.run_reading("{\"type\":\"account\",\"id\":\"a\"}", "import - --prune").succeeds();
    assert_eq!(server.get("/api/v1/courses", token).1["data"], json!([]));
    place.run(&format!("keys revoke {}", key["id"].as_str().unwrap())).succeeds();
    let (status, refusal) = server.get("/api/v1/courses", token);
    assert_eq!((status, &refusal["error"]["details"]["reason"]), (401, &json!("revoked")));
}

#[test]
fn settings_reach_the_catalogue() {
    let place = Place::with_courses();
    let key = place.run("keys create --account a --name n --scope read:courses").succeeds();
    let token = place.run("tokens create --account a --scope read:courses").succeeds();
    place.write("c.toml", "accept = [\"oauth\"]\nlisten = \"127.0.0.1:0\"\n");
    let mut command = place.command("serve --base-url https://api.example.com/v1 --config c.toml --shutdown-grace 1s");
    let server = Server::start(command.env("CATALOGUE_DOCS_URL", "/reference"));
    assert_eq!(server.get("/v1/courses", token.trim_end()).0, 200);
    assert_eq!(server.get("/v1/courses", key.trim_end()).0, 403);
    assert_eq!(server.get("/api/v1/courses", token.trim_end()).0, 404);
    let (status, document) = server.get("/reference/openapi.json", "");
    assert_eq!((status, &document["servers"][0]["url"]), (200, &json!("https://api.example.com/v1")));
}

#[test]
fn makes_a_missing_database() {
    let place = Place::new();
    let server = Server::start(&mut place.command("serve --listen 127.0.0.1:0"));
    assert!(place.path("catalogue.db").is_file());
    assert_eq!(server.get("/api/v1/me", "x").0, 401);
}

#[test]
fn a_port_in_use_is_1() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let place = Place::new();
    for command in ["serve", "demo"] {
        place.run(&format!("{command} --listen {address}")).fails(1, &[&address, "--listen"]);
        place.run_in(&[("CATALOGUE_LISTEN", &address)], command).fails(1, &[&address]);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}
