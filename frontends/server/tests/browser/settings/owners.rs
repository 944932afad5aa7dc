//! Two catalogues in one browser, a page of an ended session, and forms that are sent twice.

use serde_json::json;

use crate::host::Host;
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
fn page_of_ended_session_changes_nothing() {
    let host = Host::start();
    let (id, _) = host.create_key("anna", "another", |_| {});
    let Some(mut page) = host.signed_in("anna") else { return };
    page.visit(&host.page(&format!("/keys/{id}/revoke")));
    host.sign_out("anna");
    page.navigate(|page| page.click("main form button"));
    let text = text(&mut page);
    assert!(text.contains("Your session was ended. Sign in again. Nothing was done."), "{text}");
    let mut page = host.signed_in("anna").unwrap();
    let keys = page.evaluate(MAIN);
    assert!(keys.as_str().unwrap().contains("another") && !keys.as_str().unwrap().contains("Ended keys"), "{keys}");
}

#[test]
fn form_sent_twice_creates_one_key() {
    let host = Host::start();
    let Some(mut page) = host.signed_in("anna") else { return };
    page.visit(&host.page("/keys/new"));
    fill(&mut page, "first");
    page.navigate(|page| page.click("main form button"));
    page.navigate(|page| _ = page.command("Page.reload", json!({})));
    assert!(text(&mut page).contains("Already created"), "{}", text(&mut page));

    page.visit(&host.page("/keys/new"));
    fill(&mut page, "second");
    // After two clicks, the browser shows the response that contains the key.
    page.navigate(|page| _ = page.evaluate("{ const button = document.querySelector('main form button'); button.click(); setTimeout(() => button.click()); 0 }"));
    assert!(page.evaluate("document.querySelector('#key').value").as_str().unwrap().starts_with("ccat_"));
    page.back();
    page.until("document.querySelector('main form button') !== null");
    page.navigate(|page| _ = page.evaluate("document.querySelector('main form').submit()"));
    assert!(text(&mut page).contains("Already created"), "{}", text(&mut page));
    assert_eq!(host.count_keys("anna"), 2);

    page.enable_scripts(false);
    page.visit(&host.page("/keys/new"));
    fill(&mut page, "third");
    page.navigate(|page| page.click_times("main form button", 2));
    page.visit(&host.page(""));
    assert_eq!(host.count_keys("anna"), 3);
}
