//! Every page of the settings, in the states that it has.

use std::time::Duration;

use catalogue_core::Timestamp;

use super::host::{Host, before};
use crate::page::Page;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Names of the kind that break pages.
const NAMES: [&str; 3] = [
    "a-name-without-a-blank-that-is-as-long-as-a-name-may-be-and-would-push-the-page-wider-than-the-window",
    "شريك التكامل (תוכנה)",
    "<b>\"bold\"</b> & 'quoted'",
];

/// Sends the page's form to an address with these fields set, whatever the browser thinks of them.
fn send(page: &mut Page, action: &str, fields: &[(&str, &str)]) {
    let fields: String =
        fields.iter().map(|(name, value)| format!("form.elements['{name}'].value = '{value}';")).collect();
    page.leads(|page| {
        page.evaluate(&format!(
            "{{ const form = document.querySelector('main form[action$=\"{action}\"]'); {fields}
               HTMLFormElement.prototype.submit.call(form); 0 }}"
        ));
    });
}

/// Leads a browser to each page, and calls `save_screenshot` with the page's name.
pub(crate) fn each(host: &Host, save_screenshot: &mut impl FnMut(&mut Page, &str)) -> Option<()> {
    let mut page = Page::fresh()?;
    page.visit(&host.page("/sign-in"));
    save_screenshot(&mut page, "sign-in");
    send(&mut page, "/sign-in", &[("code", "csin_unknown")]);
    save_screenshot(&mut page, "sign-in-refused");
    page.visit(&host.page("/sign-in?why=expired"));
    save_screenshot(&mut page, "sign-in-expired");

    let mut page = host.signed_in("bert")?;
    save_screenshot(&mut page, "list-empty");
    for number in 1..=40 {
        host.make("bert", &format!("program {number}"), |_| {});
    }
    page.visit(&host.page(""));
    save_screenshot(&mut page, "list-many");

    let mut page = host.signed_in("anna")?;
    let ids = keys(host);
    page.visit(&host.page(""));
    save_screenshot(&mut page, "list");
    page.click("summary");
    save_screenshot(&mut page, "list-ended");
    page.visit(&host.page("/keys/new"));
    save_screenshot(&mut page, "new");
    page.visit(&host.page("/keys/new?name=Acme&scope=read:courses&expires=30d"));
    save_screenshot(&mut page, "new-from-link");
    page.visit(&host.page("/keys/new"));
    page.evaluate("document.querySelector('[value=date]').checked = true");
    send(&mut page, "/keys", &[("name", " ")]);
    save_screenshot(&mut page, "new-faults");
    page.visit(&host.page("/keys/new?name=partner&scope=read:courses"));
    send(&mut page, "/keys", &[]);
    save_screenshot(&mut page, "made");
    let token = page.evaluate("document.querySelector('#key').value").as_str().unwrap().to_owned();
    page.back();
    send(&mut page, "/keys", &[]);
    save_screenshot(&mut page, "made-already");

    let key = |id: &str, below: &str| host.page(&format!("/keys/{id}{below}"));
    page.visit(&key(&ids[0], ""));
    save_screenshot(&mut page, "key");
    send(&mut page, "/name", &[("name", "")]);
    save_screenshot(&mut page, "key-rename-fault");
    page.visit(&key(&ids[0], "/revoke"));
    save_screenshot(&mut page, "revoke");
    page.visit(&key(&ids[1], "/revoke"));
    save_screenshot(&mut page, "revoke-unused");
    page.visit(&key(&ids[0], ""));
    send(&mut page, "/rotate", &[]);
    save_screenshot(&mut page, "rotated");
    page.visit(&key(&ids[0], ""));
    save_screenshot(&mut page, "key-ending");
    page.visit(&key(&ids[1], "/revoke"));
    send(&mut page, "/revoke", &[]);
    save_screenshot(&mut page, "list-revoked");
    page.visit(&key(&ids[1], ""));
    save_screenshot(&mut page, "key-revoked");
    page.visit(&host.page("/activity"));
    save_screenshot(&mut page, "activity");

    let (_, foreign) = host.make("bert", "foreign", |_| {});
    for (name, text) in [("check-own", &*token), ("check-foreign", &*foreign), ("check-nothing", "hunter2")] {
        page.visit(&host.page(""));
        send(&mut page, "/check", &[("token", text)]);
        save_screenshot(&mut page, name);
    }
    page.visit(&key("key_0", ""));
    save_screenshot(&mut page, "not-found");
    Some(())
}

/// Makes keys of every sort for `anna`, newest first.
fn keys(host: &Host) -> Vec<String> {
    let ends = |days: u32| move |at: Timestamp| at.checked_add(DAY * days);
    host.make("anna", "expired", |key| {
        key.created_at = before(DAY * 40);
        key.expires_at = ends(30)(key.created_at);
    });
    let (revoked, _) = host.make("anna", "revoked", |key| key.created_at = before(DAY * 20));
    host.revoke("anna", &revoked);
    for name in NAMES {
        host.make("anna", name, |key| {
            key.created_at = before(DAY * 10);
            key.expires_at = ends(20)(key.created_at);
        });
    }
    let mut ids = Vec::new();
    for (name, age) in [("nightly import", 30), ("website", 3)] {
        let (id, _) = host.make("anna", name, |key| {
            key.created_at = before(DAY * age);
            key.expires_at = ends(90)(key.created_at);
        });
        ids.insert(0, id);
    }
    host.used("anna", &ids[0], MINUTE * 3);
    ids
}
