//! Tests of the host application whose users create API keys.

use std::process::Command;

use serde_json::json;

use crate::http::{TestResponse, request};
use crate::page::Page;
use crate::program::Host;

const README: &str = include_str!("../../developer_settings/README.md");

#[test]
fn readme_commands_work() {
    let host = Host::start_with("developer_settings", &[]);
    let lines = README.split("```sh\n").nth(2).unwrap().split("```").next().unwrap();
    let lines = lines.replace("127.0.0.1:8080", &host.address).replace("kill %1\n", "");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("bash").args(["-euc", &lines]).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(r#""slug":"first-steps""#), "{text}");
    assert!(text.contains(r#""actor":"owner anna""#) && !text.contains("ccat_"), "{text}");
}

#[test]
fn anonymous_user_is_redirected_to_login() {
    let host = Host::start_with("developer_settings", &[]);
    for path in ["/settings", "/settings/", "/settings/keys/new", "/settings/api/keys"] {
        let response = host.send("GET", path, "Cookie: session=guess\n");
        assert_eq!((response.status, response.header("location")), (303, Some("/")), "{path}");
    }
    let response = TestResponse::to(&host.address, &request("POST", "/login", "", "user=anna"));
    let cookie = response.header("set-cookie").unwrap().split(';').next().unwrap();
    let page = host.send("GET", "/settings/", &format!("Cookie: {cookie}\n"));
    assert!(page.status == 200 && page.body.contains("Demo school, anna"), "{page:?}");
    assert_eq!(host.send("GET", "/logout", &format!("Cookie: {cookie}\n")).status, 303);
    assert_eq!(host.send("GET", "/settings", &format!("Cookie: {cookie}\n")).status, 303);
    assert_eq!(host.send("GET", "/api/v1/nothing", "").failure().0, 401);
    assert!(host.send("GET", "/docs/llms.txt", "").body.contains("[developer settings](/settings)"));
}

#[test]
fn user_creates_a_key_in_a_browser() {
    let host = Host::start_with("developer_settings", &[]);
    let Some(mut page) = Page::fresh() else { return };
    page.visit(&format!("http://{}", host.address));
    page.enter("Log in");
    assert_eq!(page.evaluate("document.querySelector('.owner bdi').textContent"), "Demo school, anna");
    page.enter("New key");
    page.tab_to("Name");
    page.command("Input.insertText", json!({ "text": "website" }));
    page.enter("Create key");
    let token = page.evaluate("document.querySelector('#key').value");
    let courses = host.get("/api/v1/courses", token.as_str().unwrap());
    assert!(courses.status == 200 && courses.body.contains("first-steps"), "{courses:?}");
    page.enter("Done");
    page.enter("Sign out");
    page.visit(&format!("http://{}/settings", host.address));
    assert_eq!(page.evaluate("location.pathname"), "/", "the user is logged out");
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}
