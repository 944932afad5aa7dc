//! The whole way of a key by keyboard alone, with script and without.

use serde_json::{Value, json};

use super::host::Host;
use crate::page::Page;
use crate::program::{Server, TestDir, get};

const TOKEN: &str = "document.querySelector('#key').value";

#[test]
fn a_key_is_made_tried_rotated_and_revoked_by_keyboard_alone() {
    let host = Host::start();
    let Some(mut page) = Page::fresh() else { return };
    walk(&mut page, &host.origin, &host.link("anna"), true);
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}

#[test]
fn the_same_works_without_script() {
    let host = Host::start();
    let Some(mut page) = Page::fresh() else { return };
    page.command("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    walk(&mut page, &host.origin, &host.link("anna"), false);
}

#[test]
fn the_program_is_walked_through_from_its_own_link() {
    let dir = TestDir::new();
    dir.write("courses.jsonl", r#"{"type":"account","id":"anna","name":"School of Anna","email":""}"#);
    dir.run("import courses.jsonl").succeeds();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log error --settings-url /settings"));
    let made = dir.run("settings link --account anna --settings-url /settings --json").json();
    let Some(mut page) = Page::fresh() else { return };
    let origin = format!("http://{}", server.address);
    walk(&mut page, &origin, &format!("{origin}/settings/sign-in#{}", made["code"].as_str().unwrap()), true);
    assert!(page.complaints().is_empty(), "{:?}", page.complaints());
}

/// From a sign-in link to the end of a key, and that no secret was where it does not belong.
fn walk(page: &mut Page, origin: &str, link: &str, has_script: bool) {
    let (sign_in, code) = link.split_once('#').unwrap();
    page.visit(if has_script { link } else { sign_in });
    if has_script {
        page.until("document.activeElement.textContent === 'Sign in'");
        assert_eq!(page.evaluate("location.hash"), "");
    } else {
        page.until("document.activeElement.id === 'code'");
        page.command("Input.insertText", json!({ "text": code }));
    }
    page.enter("Sign in");

    page.enter("New key");
    page.until("document.activeElement.id === 'name'");
    page.command("Input.insertText", json!({ "text": "partner" }));
    page.tab_to("read:courses");
    page.press(" ", 32);
    page.tab_to("in 90 days");
    page.press("ArrowUp", 38);
    page.enter("Create key");
    let token = page.evaluate(TOKEN).as_str().unwrap().to_owned();
    assert!(token.starts_with("ccat_") && text(page).contains("expires in 30 days"), "{}", text(page));
    assert_eq!(status(origin, &token), 200);
    match has_script {
        true => copy_and_try(page, &token),
        false => assert_eq!(
            page.evaluate("[...document.querySelectorAll('main button')].some((b) => b.checkVisibility())"),
            false
        ),
    }
    page.enter("Done");
    assert!(text(page).contains("partner"));
    page.back();
    assert!(
        !page.evaluate("document.documentElement.outerHTML").as_str().unwrap().contains("ccat_"),
        "Back shows no key"
    );
    page.visit(&format!("{origin}/settings"));

    page.enter("partner");
    page.tab_to("after 24 hours");
    page.press("ArrowUp", 38);
    page.enter("Rotate key");
    let successor = page.evaluate(TOKEN).as_str().unwrap().to_owned();
    assert_eq!([status(origin, &token), status(origin, &successor)], [200, 200], "both work during the overlap");
    page.enter("Done");
    assert!(text(page).contains("Expires in 1 hour"), "{}", text(page));
    // The newest comes first.
    page.enter("partner");
    page.enter("Revoke partner");
    page.enter("Revoke key");
    assert_eq!(
        page.evaluate("document.querySelector('[role=status]').textContent"),
        "Revoked partner. Whatever uses it is refused."
    );
    assert_eq!([status(origin, &token), status(origin, &successor)], [200, 401], "at once");

    page.enter("Activity");
    for words in ["Key created", "Key rotated", "Key revoked", "Signed in"] {
        assert!(text(page).contains(words), "{words}: {}", text(page));
    }
    page.enter("Sign out");
    assert_eq!(page.evaluate("location.pathname"), "/settings/sign-in");
    keeps_secrets(page, &[code, &token, &successor]);
}

fn copy_and_try(page: &mut Page, token: &str) {
    page.until(&format!("getSelection().toString() === '{token}'"));
    page.allow_clipboard();
    page.tab_to("Copy the key");
    page.press("Enter", 13);
    page.until("document.querySelector('main [role=status]').textContent === 'Copied'");
    assert_eq!(page.evaluate("navigator.clipboard.readText()"), token);
    page.tab_to("Try it");
    page.press("Enter", 13);
    page.until("document.querySelector('output').textContent.startsWith('200')");
    assert_eq!(
        page.evaluate("document.querySelector('output').textContent"),
        "200: it works, for anna with read:courses"
    );
}

/// Asserts that addresses, history and requests have none of these; but for a code in the form that signs in, and a key in
/// the one request that tries it.
fn keeps_secrets(page: &mut Page, secrets: &[&str]) {
    let history = page.command("Page.getNavigationHistory", json!({}));
    let addresses: Vec<&Value> = history["entries"].as_array().unwrap().iter().map(|entry| &entry["url"]).collect();
    assert!(addresses.len() > 8, "{history}");
    let mut sent = vec![json!(addresses)];
    for mut request in page.requests() {
        request["headers"].as_object_mut().unwrap().remove("Authorization");
        request.as_object_mut().unwrap().remove("urlFragment");
        if request["url"].as_str().unwrap().ends_with("/settings/sign-in") {
            for field in ["postData", "postDataEntries"] {
                request.as_object_mut().unwrap().remove(field);
            }
        }
        sent.push(request);
    }
    // What is added on the way, such as the referrer.
    for mut event in page.events("Network.requestWillBeSentExtraInfo") {
        event["headers"].as_object_mut().unwrap().remove("Authorization");
        sent.push(event["headers"].take());
    }
    let referrers = sent.iter().filter(|headers| headers["Referer"].is_string()).count();
    assert!(sent.len() > 20 && referrers > 5, "{} with {referrers}", sent.len());
    for found in &sent {
        let found = found.to_string();
        assert!(!secrets.iter().any(|secret| found.contains(secret)), "{found}");
    }
}

fn text(page: &mut Page) -> String {
    page.evaluate("document.body.innerText").as_str().unwrap().to_owned()
}

/// What the API answers a program with that key.
fn status(origin: &str, token: &str) -> u16 {
    get(origin.strip_prefix("http://").unwrap(), "/api/v1/courses", token).0
}
