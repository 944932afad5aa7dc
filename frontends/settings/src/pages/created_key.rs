//! A new key, shown once.

use maud::{Markup, html};

use super::frame::{curl, name, prefix, scopes};
use crate::call::{Call, CreatedKey};
use crate::times::{dated, exact};

pub(super) fn page(call: Call<'_>, created: &CreatedKey) -> Markup {
    let (inner, key) = (call.inner, &created.key);
    let reminder = inner.urls.key(&key.identity.credential_id, "/reminder.ics");
    let content = html! {
        p.notice id="once" { strong { "Copy the key now." } " You will not see it again." }
        @if let Some(old) = &created.replaces {
            p {
                "The old key, " (prefix(old)) ", "
                @match old.expires_at.filter(|end| *end > call.now) {
                    Some(end) => { "works until " (exact(end)) "." },
                    None => { "is refused from now on." },
                }
            }
        }
        label for="key" { "Key for " (name(key)) }
        div.row.top {
            textarea.key id="key" rows="2" readonly spellcheck="false" autocomplete="off" autofocus
                aria-describedby="once" data-secret { (created.token.expose()) }
            button.primary type="button" aria-label="Copy the key" hidden data-copy { "Copy" }
        }
        dl {
            dt { "Scopes" } dd { (scopes(key)) }
            dt { "Expires" }
            dd {
                @match key.expires_at {
                    Some(end) => { (dated(end, call.now)) " · " a href=(reminder) { "Add a reminder to your calendar" } },
                    None => { "never" },
                }
            }
        }
        h2 { "Use it" }
        p { "Keep the key where your program keeps its secrets, such as the environment variable " code { "API_KEY" } "." }
        (curl(inner))
        @if inner.can_try {
            div.row hidden data-try={ (inner.urls.base.as_str()) "/me" } {
                button.small type="button" { "Try it" }
                output { "Sends one request with this key." }
            }
        }
        p.end { a.button href=(inner.urls.page("")) { "Done" } }
    };
    call.frame().page("Key created", &content)
}
