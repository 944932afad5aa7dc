//! The result of checking a pasted text. The text itself is not shown.

use maud::{Markup, html};

use super::frame::{Frame, end, link, name, prefix, state};
use super::list::lookup_form;
use crate::call::{Call, CheckResult};

pub(super) fn page(call: Call<'_>, checked: &CheckResult) -> Markup {
    let Call { inner, owner, now } = call;
    let content = html! {
        div role="status" {
            @match (&checked.key, checked.kind) {
                (Some(key), _) => {
                    p.top { "This key is yours: " strong { (link(inner, key)) } " " (prefix(key)) " " (state(key.state(now))) }
                    p.muted { (end(key, now)) }
                    @if key.state(now).is_active() {
                        p { a.button.bad href=(inner.urls.key(&key.identity.credential_id, "/revoke")) { "Revoke " (name(key)) "…" } }
                    }
                },
                (None, Some(_)) => { p { "This looks like a key, but it is not one of yours." } },
                (None, None) => { p { "This is not a key of this service." } },
            }
        }
        (lookup_form(call))
        p { a href=(inner.urls.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page("Key lookup", &content)
}
