//! Every page of the settings in each of its states.

use std::time::Duration;

use catalogue_core::Timestamp;

use crate::host::{Host, before};
use crate::page::Page;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Names that could break the layout or the escaping of a page.
const NAMES: [&str; 3] = [
    "a-name-without-a-space-that-is-as-long-as-a-name-may-be-and-would-push-the-page-wider-than-the-window",
    "شريك التكامل (תוכנה)",
    "<b>\"bold\"</b> & 'quoted'",
];

/// Sends the page's form for `action` with `fields` set, without the browser's validation.
fn send(page: &mut Page, action: &str, fields: &[(&str, &str)]) {
    let fields: String =
        fields.iter().map(|(name, value)| format!("form.elements['{name}'].value = '{value}';")).collect();
    page.navigate(|page| {
        page.evaluate(&format!(
            "{{ const form = document.querySelector('main form[action$=\"{action}\"]'); {fields}
               HTMLFormElement.prototype.submit.call(form); 0 }}"
        ));
    });
}

/// Opens each page in a browser, and calls `inspect` with the page and its name.
pub(crate) fn visit_pages(host: &Host, inspect: &mut impl FnMut(&mut Page, &str)) -> Option<()> {
    let mut page = Page::fresh()?;
    page.visit(&host.page("/sign-in"));
    inspect(&mut page, "sign-in");
    send(&mut page, "/sign-in", &[("code", "csin_unknown")]);
    inspect(&mut page, "sign-in-refused");
    page.visit(&host.page("/sign-in?why=expired"));
    inspect(&mut page, "sign-in-expired");
    page.visit(&host.page("/sign-in?why=signed_out"));
    inspect(&mut page, "signed-out");
    page.visit(&host.link("anna"));
    inspect(&mut page, "sign-in-link");

    let mut page = host.signed_in("bert")?;
    inspect(&mut page, "list-empty");
    for number in 1..=100 {
        host.create_key("bert", &format!("program {number}"), |_| {});
    }
    page.visit(&host.page(""));
    inspect(&mut page, "list-many");

    let mut page = host.signed_in("anna")?;
    let ids = keys(host);
    page.visit(&host.page(""));
    inspect(&mut page, "list");
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true; 0");
    inspect(&mut page, "list-opened");
    page.visit(&host.page("/keys/new"));
    inspect(&mut page, "new");
    page.visit(&host.page("/keys/new?name=Acme&scope=read:courses&expires=30d"));
    inspect(&mut page, "new-from-link");
    page.visit(&host.page("/keys/new"));
    page.evaluate("document.querySelector('[value=date]').checked = true");
    send(&mut page, "/keys", &[("name", " ")]);
    inspect(&mut page, "new-errors");
    page.visit(&host.page("/keys/new?name=partner&scope=read:courses"));
    send(&mut page, "/keys", &[]);
    inspect(&mut page, "made");
    let token = page.evaluate("document.querySelector('#key').value").as_str().unwrap().to_owned();
    page.back();
    send(&mut page, "/keys", &[]);
    inspect(&mut page, "made-already");

    let key = |id: &str, below: &str| host.page(&format!("/keys/{id}{below}"));
    page.visit(&key(&ids[0], ""));
    inspect(&mut page, "key");
    send(&mut page, "/name", &[("name", "")]);
    inspect(&mut page, "key-rename-error");
    page.visit(&key(&ids[0], "/revoke"));
    inspect(&mut page, "revoke");
    page.visit(&key(&ids[1], "/revoke"));
    inspect(&mut page, "revoke-unused");
    page.visit(&key(&ids[0], ""));
    send(&mut page, "/rotate", &[]);
    inspect(&mut page, "rotated");
    page.visit(&key(&ids[0], ""));
    inspect(&mut page, "key-ending");
    page.visit(&host.page(""));
    inspect(&mut page, "list-rotated");
    page.visit(&key(&ids[1], "/revoke"));
    send(&mut page, "/revoke", &[]);
    inspect(&mut page, "list-revoked");
    page.visit(&key(&ids[1], ""));
    inspect(&mut page, "key-revoked");
    page.visit(&host.page("/activity"));
    inspect(&mut page, "activity");

    let (_, other) = host.create_key("bert", "other", |_| {});
    for (name, text) in [("check-own", &*token), ("check-other-account", &*other), ("check-nothing", "hunter2")] {
        page.visit(&host.page(""));
        send(&mut page, "/check", &[("token", text)]);
        inspect(&mut page, name);
    }
    page.visit(&key("key_0", ""));
    inspect(&mut page, "not-found");
    Some(())
}

/// Creates expired, revoked and active keys for `anna`. Returns the ids of two active keys, the newest first.
fn keys(host: &Host) -> Vec<String> {
    let expiry_after = |days: u32| move |at: Timestamp| at.checked_add(DAY * days);
    host.create_key("anna", "expired", |key| {
        key.created_at = before(DAY * 40);
        key.expires_at = expiry_after(30)(key.created_at);
    });
    let (revoked, _) = host.create_key("anna", "revoked", |key| key.created_at = before(DAY * 20));
    host.revoke("anna", &revoked);
    for name in NAMES {
        host.create_key("anna", name, |key| {
            key.created_at = before(DAY * 10);
            key.expires_at = expiry_after(12)(key.created_at);
        });
    }
    let mut ids = Vec::new();
    for (name, age) in [("nightly import", 30), ("website", 3)] {
        let (id, _) = host.create_key("anna", name, |key| {
            key.created_at = before(DAY * age);
            key.expires_at = expiry_after(90)(key.created_at);
        });
        ids.insert(0, id);
    }
    host.record_use("anna", &ids[0], MINUTE * 3);
    ids
}
