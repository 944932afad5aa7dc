//! A new key, shown once.

use maud::{Markup, html};

use super::frame::{Frame, code, curl, name, prefix};
use crate::call::{Call, CreatedKey};
use crate::times::{exact, time};

pub(super) fn page(call: Call<'_>, created: &CreatedKey) -> Markup {
    let Call { inner, owner, now } = call;
    let token = created.token.expose();
    let reminder = inner.urls.key(&created.key.identity.credential_id, "/reminder.ics");
    let content = html! {
        p.notice id="once" { strong { "Copy this key now. Only its digest is stored, so it cannot be shown again." } }
        @if let Some(old) = &created.replaces {
            p {
                @match old.expires_at.filter(|end| *end > now) {
                    Some(end) => { (prefix(old)) " works until " (exact(end)) "." },
                    None => { (prefix(old)) " is refused from now on." },
                }
            }
        }
        label for="key" { "Your new key" }
        div.row {
            input.key id="key" value=(token) readonly spellcheck="false" autocomplete="off" autofocus
                aria-describedby="once" data-secret;
            button.primary type="button" aria-label="Copy the key" hidden data-copy { "Copy" }
        }
        @if inner.can_try {
            div.row hidden data-try={ (inner.urls.base.as_str()) "/me" } {
                button type="button" { "Try it" }
                output {}
            }
        }
        p.chips.muted {
            strong { (name(&created.key)) }
            @for scope in created.key.identity.scopes.iter() { " " span.scope { (scope) } }
            " "
            @match created.key.expires_at {
                Some(end) => { span { "expires " (time(end, now)) } " " a href=(reminder) { "Reminder for your calendar" } },
                None => { span { "never expires" } },
            }
        }
        h2 { "Use it" }
        (code("Copy the shell command", &html! { span data-secret { "API_KEY=" (token) } }))
        (curl(inner))
        p { a.button href=(inner.urls.page("")) { "Done" } }
    };
    Frame { inner, owner: Some(owner) }.page("New key", &content)
}
