//! The result of checking a pasted text. The text itself is not shown.

use maud::{Markup, html};

use super::frame::{Frame, end, link, name, prefix, state};
use super::list::found_a_key;
use crate::call::{Call, Checked};

pub(super) fn page(call: Call<'_>, checked: &Checked) -> Markup {
    let Call { inner, owner, now } = call;
    let content = html! {
        div role="status" {
            @match (&checked.key, checked.kind) {
                (Some(key), _) => {
                    p.top { "It is yours: " strong { (link(inner, key)) } " " (prefix(key)) " " (state(key.state(now))) }
                    p.muted { (end(key, now)) }
                    @if key.state(now).is_active() {
                        p { a.button.bad href=(inner.urls.key(&key.identity.credential_id, "/revoke")) { "Revoke " (name(key)) "…" } }
                    }
                },
                (None, Some(_)) => { p { "It has the form of a key and is none of yours." } },
                (None, None) => { p { "It is no key of this service." } },
            }
        }
        (found_a_key(call))
        p { a href=(inner.urls.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page("Key lookup", &content)
}
