//! The list of keys.

use catalogue_core::admin::CredentialRecord;
use catalogue_core::storage::CredentialAction;
use maud::{Markup, html};

use super::frame::{Frame, curl, end, last_use, link, name, prefix, state};
use crate::call::{Call, MAX_ENDED};
use crate::form::Form;
use crate::key::{Hint, hints, successor};
use crate::times::time;

pub(super) fn page(call: Call<'_>, keys: &[CredentialRecord], query: &Form) -> Markup {
    let Call { inner, owner, now } = call;
    let (active, mut ended): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.state(now).is_active());
    ended.sort_by_key(|key| std::cmp::Reverse(key.end()));
    let content = html! {
        (success_message(keys, query))
        div.lead {
            p { "Programs use a key to read your courses through the API. Give each program its own." }
            a.button.primary href=(inner.urls.page("/keys/new")) { "New key" }
        }
        @if active.is_empty() {
            p.empty { @if ended.is_empty() { "No keys yet." } @else { "No valid keys." } }
        } @else {
            ul.cards { @for key in &active { (card(call, key, keys)) } }
            p.hint { "Uses are recorded at most once a minute." }
        }
        @if !ended.is_empty() {
            details {
                summary { "Ended keys (" (ended.len()) ")" }
                ul.cards { @for key in &ended { (card(call, key, keys)) } }
                @if ended.len() >= MAX_ENDED { p.hint { "The last " (MAX_ENDED) " are shown." } }
            }
        }
        (lookup_form(call))
        h2 { "Use a key" }
        (curl(inner))
        p {
            a href=(inner.urls.docs.as_str()) { "API reference" } " · "
            a href=(inner.urls.page("/activity")) { "Activity" }
        }
    };
    Frame { inner, owner: Some(owner) }.page("API keys", &content)
}

/// Returns a sentence about the previous action, from a fixed list.
fn success_message(keys: &[CredentialRecord], query: &Form) -> Markup {
    let key = keys.iter().find(|key| *key.identity.credential_id == *query.first_or_empty("key"));
    html! {
        @if let Some(key) = key {
            @match query.first_or_empty("done") {
                "revoked" if key.revoked_at.is_some() => {
                    p.done role="status" { "Revoked " (name(key)) ". Programs that use it are refused." }
                },
                "renamed" => { p.done role="status" { "The key is now called " (name(key)) "." } },
                _ => {},
            }
        }
    }
}

fn card(call: Call<'_>, key: &CredentialRecord, keys: &[CredentialRecord]) -> Markup {
    let now = call.now;
    html! {
        li.card {
            p.top { strong { (link(call.inner, key)) } (state(key.state(now))) }
            p.chips {
                (prefix(key))
                @for scope in key.identity.scopes.iter() { " " span.scope { (scope) } }
            }
            p.chips.muted {
                span { "Created " (time(key.created_at, now)) } " "
                span { (last_use(key, now)) } " "
                span { (end(key, now)) }
            }
            (advice(call, key, keys))
        }
    }
}

/// Returns each hint for a key, with a link to the page that helps, if there is one.
pub(super) fn advice(call: Call<'_>, key: &CredentialRecord, keys: &[CredentialRecord]) -> Markup {
    let (now, id) = (call.now, &*key.identity.credential_id);
    let at = |below: &str| call.inner.urls.key(id, below);
    let end = key.expires_at.map(|end| time(end, now));
    let hints = hints(key, keys, now);
    html! {
        @if !hints.is_empty() {
            @let successor = successor(key, keys, now);
            ul.advice {
                @for hint in hints {
                    li { span aria-hidden="true" { "!" } " " @match hint {
                        Hint::EndsSoon => { "It expires soon. " a href={ (at("")) "#rotate" } { "Rotate it" } "." },
                        Hint::Unused => { "It has not been used for 90 days. " a href=(at("/revoke")) { "Revoke it" } "." },
                        Hint::NeverUsed => { "It has not been used yet. " a href=(at("/revoke")) { "Revoke it" } " if you do not need it." },
                        Hint::NeverEnds => { "It never expires. Review it from time to time." },
                        Hint::StillUsed => {
                            "It is still in use. Switch to " @if let Some(new) = successor { (prefix_link(call, new)) } "."
                        },
                        Hint::SuccessorUnused => {
                            "Switch to the new key" @if let Some(new) = successor { ", " (prefix_link(call, new)) }
                            ", before this one stops working" @if let Some(end) = &end { " " (end) } "."
                        },
                        Hint::SuccessorEnded => {
                            "Its successor has ended. "
                            a href=(call.inner.urls.page("/keys/new")) { "Create another key" } "."
                        },
                    } }
                }
            }
        }
    }
}

/// Returns a link with the first characters of a key, because a key and its predecessor have the same name.
fn prefix_link(call: Call<'_>, key: &CredentialRecord) -> Markup {
    html! { a href=(call.inner.urls.key(&key.identity.credential_id, "")) { (prefix(key)) } }
}

/// Returns the form that looks up a pasted key.
pub(super) fn lookup_form(call: Call<'_>) -> Markup {
    html! {
        h2 id="found" { "Found a key?" }
        form method="post" action=(call.inner.urls.page("/check")) {
            label for="token" { "Paste the key" }
            div.row {
                input id="token" name="token" autocomplete="off" spellcheck="false" required aria-describedby="token-hint";
                button { "Look up" }
            }
            p.hint id="token-hint" { "Checks whether it is yours. It is neither stored nor shown." }
        }
    }
}

/// Returns the event's action in words.
pub(super) const fn words(action: CredentialAction) -> &'static str {
    match action {
        CredentialAction::KeyCreated => "Key created",
        CredentialAction::KeyRenamed => "Key renamed",
        CredentialAction::KeyRotated => "Key rotated",
        CredentialAction::KeyRevoked => "Key revoked",
        CredentialAction::LinkMade => "Sign-in link created",
        CredentialAction::SignedIn => "Signed in",
        CredentialAction::SignedOut => "Signed out",
        _ => action.name(),
    }
}
