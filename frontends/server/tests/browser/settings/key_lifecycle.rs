//! Life cycle of a key by keyboard only, with and without scripts.

use serde_json::{Value, json};

use crate::page::Page;
use crate::program::{Server, TestDir, get};

const TOKEN: &str = "document.querySelector('#key').value";

#[test]
fn keyboard_user_of_program_creates_tries_rotates_and_revokes_key() {
    let dir = TestDir::new();
    dir.write("courses.jsonl", r#"{"type":"account","id":"anna","name":"School of Anna","email":""}"#);
    dir.run("import courses.jsonl").succeeds();
    let server = Server::start(&mut dir.command("serve --listen 127.0.0.1:0 --log error --settings-url /settings"));
    let origin = format!("http://{}", server.address);
    for has_script in [true, false] {
        let link = dir.run("settings link --account anna --settings-url /settings --json").json();
        let Some(mut page) = Page::fresh() else { return };
        page.enable_scripts(has_script);
        let link = format!("{origin}/settings/sign-in#{}", link["code"].as_str().unwrap());
        run(&mut page, &origin, &link, has_script);
        page.assert_no_complaints();
    }
}

/// Signs in by a link, and creates, tries, rotates and revokes a key. Asserts that no secret leaks.
fn run(page: &mut Page, origin: &str, link: &str, has_script: bool) {
    let (sign_in, code) = link.split_once('#').unwrap();
    page.visit(if has_script { link } else { sign_in });
    if has_script {
        page.until("document.activeElement.textContent === 'Continue as School of Anna'");
        assert_eq!(page.evaluate("location.hash"), "");
        page.enter("Continue as School of Anna");
    } else {
        page.until("document.activeElement.id === 'code'");
        page.command("Input.insertText", json!({ "text": code }));
        page.enter("Sign in");
    }

    page.enter("New key");
    page.until("document.activeElement.id === 'name'");
    page.command("Input.insertText", json!({ "text": "partner" }));
    page.tab_to("in 90 days");
    page.press("ArrowUp", 38);
    page.enter("Create key");
    let token = page.evaluate(TOKEN).as_str().unwrap().to_owned();
    assert!(token.starts_with("ccat_") && text(page).contains("in 30 days"), "{}", text(page));
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
        "going back does not show the key again"
    );
    page.visit(&format!("{origin}/settings"));

    page.enter("partner");
    page.tab_to("after 24 hours");
    page.press("ArrowUp", 38);
    page.enter("Rotate key");
    let successor = page.evaluate(TOKEN).as_str().unwrap().to_owned();
    assert_eq!([status(origin, &token), status(origin, &successor)], [200, 200], "both keys work during the overlap");
    page.enter("Done");
    assert!(text(page).contains("in 1 hour"), "{}", text(page));
    // The list starts with the newest key.
    page.enter("partner");
    page.enter("Revoke key…");
    page.enter("Revoke key");
    assert_eq!(
        page.evaluate("document.querySelector('[role=status]').textContent"),
        "Revoked partner. Programs that use it are refused."
    );
    assert_eq!(
        [status(origin, &token), status(origin, &successor)],
        [200, 401],
        "the successor is revoked immediately"
    );

    page.enter("Activity");
    for words in ["Key created", "Key rotated", "Key revoked", "Signed in"] {
        assert!(text(page).contains(words), "{words}: {}", text(page));
    }
    page.enter("Sign out");
    assert_eq!(page.evaluate("document.querySelector('[role=status]').textContent"), "You are signed out.");
    assert_no_leak(page, &[code, &token, &successor]);
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
    page.until("document.querySelector('output').className === 'good'");
    assert_eq!(
        page.evaluate("document.querySelector('output').textContent"),
        "✓ The key works. The API accepts it with read:courses."
    );
    // Simulates the response of a proxy whose upstream server is down.
    page.evaluate("globalThis.fetch = async () => new Response('<h1>', { status: 502 })");
    page.press("Enter", 13);
    page.until("document.querySelector('output').textContent === '✕ 502: This is not a response of the API.'");
}

/// Asserts that URLs, history and requests contain no secret, except the code of the sign-in form and the key of the try-out.
fn assert_no_leak(page: &mut Page, secrets: &[&str]) {
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
    // Headers that the browser adds later, such as the referrer.
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

/// Returns the status of an API request with `token`.
fn status(origin: &str, token: &str) -> u16 {
    get(origin.strip_prefix("http://").unwrap(), "/api/v1/courses", token).0
}
