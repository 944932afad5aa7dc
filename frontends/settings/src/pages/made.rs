//! A new key, shown once.

use maud::{Markup, html};

use super::frame::{Frame, curl, name};
use crate::call::{Call, Made};
use crate::times::time;

pub(super) fn page(call: Call<'_>, made: &Made) -> Markup {
    let Call { inner, owner, now } = call;
    let token = made.token.expose();
    let reminder = inner.addresses.key(&made.key.identity.credential_id, "/reminder.ics");
    let content = html! {
        p.notice { strong { "Copy it now: it is kept as a digest and cannot be shown again." } }
        @if let Some(old) = &made.replaces {
            p {
                @match old.expires_at.filter(|end| *end > now) {
                    Some(end) => { code { (old.shown_prefix) "…" } " works until " time datetime=(end) { (end) } "." },
                    None => { code { (old.shown_prefix) "…" } " is refused from now on." },
                }
            }
        }
        label for="key" { "Your new key" }
        div.row {
            input.key id="key" value=(token) readonly spellcheck="false" autocomplete="off" data-secret;
            button type="button" hidden data-copy="key" { "Copy" }
        }
        @if inner.can_try {
            div.row hidden data-try={ (inner.addresses.base.as_str()) "/me" } {
                button type="button" { "Try it" }
                output {}
            }
        }
        p.muted {
            (name(&made.key))
            @for scope in made.key.identity.scopes.iter() { " " span.scope { (scope) } }
            " "
            @match made.key.expires_at {
                Some(end) => { "expires " (time(end, now)) ". " a href=(reminder) { "Reminder for your calendar" } },
                None => { "never expires." },
            }
        }
        h2 { "Paste it into your program" }
        pre { code data-secret { "API_KEY=" (token) } }
        (curl(inner))
        p { a.button.primary href=(inner.addresses.page("")) { "Done" } }
    };
    let title = if made.replaces.is_some() { "The successor" } else { "New key" };
    Frame { inner, owner: Some(owner) }.page(title, &content)
}
