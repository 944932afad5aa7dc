//! Concurrent use: two owners, two catalogues, stale pages, and forms that are sent twice.

use serde_json::json;

use super::host::Host;
use crate::page::Page;

const MAIN: &str = "document.querySelector('main').innerText";

fn text(page: &mut Page) -> String {
    page.evaluate(MAIN).as_str().unwrap().to_owned()
}

/// Fills in the form of a new key without sending it.
fn fill(page: &mut Page, name: &str) {
    page.evaluate(&format!(
        "{{ const form = document.querySelector('main form'); form.elements.name.value = '{name}';
           form.querySelector('[value=\"read:courses\"]').checked = true; 0 }}"
    ));
}

fn create(page: &mut Page, host: &Host, name: &str) -> String {
    page.visit(&host.page("/keys/new"));
    fill(page, name);
    page.navigate(|page| page.click("main form button"));
    page.evaluate("document.querySelector('#key').value").as_str().unwrap().to_owned()
}

#[test]
fn owners_cannot_see_each_others_keys() {
    let host = Host::start();
    let Some(mut anna) = host.signed_in("anna") else { return };
    let Some(mut bert) = host.signed_in("bert") else { return };
    let own = create(&mut bert, &host, "of bert");
    let token = create(&mut anna, &host, "of anna");
    anna.navigate(|page| page.click("main p > a.button"));
    anna.navigate(|page| page.click(".card a"));
    let key = anna.evaluate("location.href").as_str().unwrap().to_owned();
    let id = key.rsplit('/').next().unwrap().to_owned();

    let mut assert_invisible = || {
        for path in ["", "/activity"] {
            bert.visit(&host.page(path));
            let html = bert.evaluate("document.documentElement.outerHTML");
            let html = html.as_str().unwrap();
            assert!(html.contains("of bert") && !html.contains("of anna") && !html.contains(&id), "{html}");
        }
        for address in [key.clone(), format!("{key}/revoke"), host.page("/keys/key_0")] {
            bert.visit(&address);
            assert_eq!(text(&mut bert).lines().next(), Some("Not found"), "{address}");
        }
        for (token, words) in [(&*token, "not one of yours"), (&own, "This key is yours")] {
            bert.visit(&host.page(""));
            bert.paste("#token", token);
            bert.navigate(|page| page.press("Enter", 13));
            assert!(text(&mut bert).contains(words), "{}", text(&mut bert));
        }
    };
    assert_invisible();
    anna.navigate(|page| page.click("form[action$=\"/rotate\"] button"));
    assert_invisible();
    anna.visit(&format!("{key}/revoke"));
    anna.navigate(|page| page.click("main form button"));
    assert_invisible();
    assert_eq!((host.count_keys("anna"), host.count_keys("bert")), (2, 1));
}

#[test]
fn two_catalogues_on_one_host_name_keep_both_sessions() {
    let (one, two) = (Host::start(), Host::start());
    let Some(mut page) = one.signed_in("anna") else { return };
    page.visit(&two.link("bert"));
    page.navigate(|page| page.press("Enter", 13));
    for _ in 0..2 {
        for (host, name) in [(&one, "School of Anna"), (&two, "School of Bert")] {
            page.visit(&host.page(""));
            assert_eq!(page.evaluate("location.pathname"), "/settings");
            let body = page.evaluate("document.body.innerText");
            assert!(body.as_str().unwrap().contains(name), "{body}");
        }
    }
}

#[test]
fn stale_page_shows_current_state_at_next_click() {
    let host = Host::start();
    let (id, _) = host.create_key("anna", "partner", |_| {});
    let Some(mut page) = host.signed_in("anna") else { return };
    let Some(mut other) = host.signed_in("anna") else { return };
    let key = host.page(&format!("/keys/{id}"));
    page.visit(&key);
    other.visit(&key);
    host.revoke("anna", &id);

    page.navigate(|page| page.click("form[action$=\"/rotate\"] button"));
    assert!(text(&mut page).contains("This key has been rotated or revoked, or has expired."), "{}", text(&mut page));
    other.navigate(|page| page.click(".danger a"));
    assert!(text(&mut other).contains("revoked") && !text(&mut other).contains("Rotate"), "{}", text(&mut other));
    assert_eq!(host.count_keys("anna"), 1);

    // A page of an ended session cannot change anything.
    let (id, _) = host.create_key("anna", "another", |_| {});
    page.visit(&host.page(&format!("/keys/{id}/revoke")));
    host.sign_out("anna");
    page.navigate(|page| page.click("main form button"));
    assert!(
        text(&mut page).contains("Your session was ended. Sign in again. Nothing was done."),
        "{}",
        text(&mut page)
    );
    let mut page = host.signed_in("anna").unwrap();
    assert!(page.evaluate("document.querySelector('.card').innerText").as_str().unwrap().contains("valid"));
}

#[test]
fn form_sent_twice_creates_one_key() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    create(&mut page, &host, "first");
    page.navigate(|page| _ = page.command("Page.reload", json!({})));
    assert!(text(&mut page).starts_with("Already created"), "{}", text(&mut page));

    page.visit(&host.page("/keys/new"));
    fill(&mut page, "second");
    // After two clicks, the browser shows the response that contains the key.
    page.navigate(|page| _ = page.evaluate("{ const button = document.querySelector('main form button'); button.click(); setTimeout(() => button.click()); 0 }"));
    assert!(page.evaluate("document.querySelector('#key').value").as_str().unwrap().starts_with("ccat_"));
    page.back();
    page.until("document.querySelector('main form button') !== null");
    page.navigate(|page| _ = page.evaluate("document.querySelector('main form').submit()"));
    assert!(text(&mut page).starts_with("Already created"), "{}", text(&mut page));
    assert_eq!(host.count_keys("anna"), 2);

    page.command("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    page.visit(&host.page("/keys/new"));
    fill(&mut page, "third");
    page.navigate(|page| page.click_times("main form button", 2));
    page.visit(&host.page(""));
    assert_eq!(host.count_keys("anna"), 3);
}
