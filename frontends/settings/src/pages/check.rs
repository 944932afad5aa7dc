//! The form that checks whose key a pasted text is, and its result.

use maud::{Markup, html};

use super::frame::{end_of, hint, link, prefix, state, time_or_never};
use crate::call::{Call, CheckResult};

/// Returns the page with the result. A text that is no key stays in its field, to be corrected; a key is not shown again.
pub(super) fn page(call: Call<'_>, checked: &CheckResult, text: &str) -> Markup {
    let now = call.now;
    let content = html! {
        @match (&checked.key, checked.kind) {
            (Some(key), _) => {
                div role="status" {
                    p.chips { "This key is yours: " strong { (link(call.inner, key)) } (prefix(key)) (state(key.state(now))) }
                    p.muted { (end_of(key, now).0) " " (time_or_never(end_of(key, now).1, now)) "." }
                }
                @if key.state(now).is_active() {
                    p { a.button.bad href=(call.inner.urls.key(&key.identity.credential_id, "/revoke")) { "Revoke key…" } }
                }
                h2 { "Check another key" }
            },
            (None, Some(_)) => {
                p.warning role="status" { "This key is not yours. Tell the operator of this service where you found it." }
            },
            (None, None) => {},
        }
        (form(call, checked.kind.is_none().then_some(text)))
    };
    call.frame().page("Check a key", &content)
}

/// Returns the form; `refused` is a text that is not a key.
pub(super) fn form(call: Call<'_>, refused: Option<&str>) -> Markup {
    let error = refused.map(|_| "This is not a key of this service. Check that it is complete.");
    html! {
        form method="post" action=(call.inner.urls.page("/check")) {
            label for="token" { "Key" }
            div.row {
                input id="token" name="token" value=[refused] autocomplete="off" spellcheck="false" required data-secret
                    autofocus[refused.is_some()] aria-invalid=[refused.map(|_| "true")] aria-describedby="token-hint";
                button { "Check key" }
            }
            (hint("token-hint", "It is compared with your keys, and neither stored nor logged.", error))
        }
    }
}
