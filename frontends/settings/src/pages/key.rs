//! All of one key.

use catalogue_core::admin::CredentialRecord;
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::CredentialEvent;
use maud::{Markup, html};

use super::frame::{Frame, end_of, hint, link, name_of, prefix, state};
use super::{activity, list};
use crate::call::Call;
use crate::input::{DEFAULT_OVERLAP, Fault, MAX_NAME, OVERLAPS};
use crate::key::State;
use crate::nonce::Nonce;
use crate::times::time;

/// Among how many of the account's events its changes are looked for.
pub(super) const MAX_EVENTS: usize = 1000;

/// How many of its changes are shown.
const MAX_CHANGES: usize = 20;

/// What was wrong in a form of this page.
#[derive(Clone, Copy, Default)]
pub(super) struct Refused<'r> {
    /// The name that was sent, and why it is none.
    pub(super) name: Option<(&'r str, &'r Fault)>,
    pub(super) rotate: Option<&'r Fault>,
}

pub(super) fn page(
    call: Call<'_>,
    key: &CredentialRecord,
    keys: &[CredentialRecord],
    events: &[CredentialEvent],
    refused: Refused<'_>,
) -> Markup {
    let Call { inner, owner, now } = call;
    let id = &*key.identity.credential_id;
    let at = |below: &str| inner.addresses.key(id, below);
    let standing = State::of(key, now);
    let changes: Vec<_> =
        events.iter().filter(|event| event.credential_id.as_deref() == Some(id)).take(MAX_CHANGES).cloned().collect();
    let content = html! {
        p.top { (state(standing)) (prefix(key)) }
        (list::advice(call, key, keys))
        (facts(call, key, keys))
        @if standing == State::Valid && key.identity.kind == CredentialKind::ApiKey {
            h2 id="rotate" { "Rotate" }
            (rotate(call, key, refused))
        }
        h2 { "Rename" }
        (rename(call, key, refused))
        @if !changes.is_empty() {
            h2 { "Changes" }
            (activity::list(call, &changes, false))
        }
        @if standing.holds() {
            section.danger {
                h2 { "Revoke" }
                p { "Whatever uses the key is refused from the next request on." }
                p { a.button.bad href=(at("/revoke")) { "Revoke " bdi { (name_of(key)) } "…" } }
            }
        }
        p { a href=(inner.addresses.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page(name_of(key), &content)
}

fn facts(call: Call<'_>, key: &CredentialRecord, keys: &[CredentialRecord]) -> Markup {
    let now = call.now;
    let id = &*key.identity.credential_id;
    let find = |id: &str| keys.iter().find(|key| *key.identity.credential_id == *id);
    let successor = key.replaced_by.as_deref().and_then(find);
    let (word, end) = end_of(key, now);
    let before = keys.iter().find(|old| old.replaced_by.as_deref() == Some(id));
    html! {
        dl {
            dt { "Id" } dd { code { (id) } }
            dt { "Scopes" }
            dd { @for scope in key.identity.scopes.iter() { span.scope { (scope) } " " } }
            dt { "Created" } dd { (time(key.created_at, now)) }
            dt { "Last used" }
            dd {
                @match key.last_used_at { Some(at) => (time(at, now)), None => "never" }
                " " span.hint { "(recorded once a minute)" }
            }
            dt { (word) }
            dd {
                @match end { Some(at) => (time(at, now)), None => "never" }
                @if key.expires_at.is_some() && State::of(key, now).holds() {
                    " · " a href=(call.inner.addresses.key(id, "/reminder.ics")) { "Remind me" }
                }
            }
            @if let Some(new) = successor { dt { "Successor" } dd { (link(call.inner, new)) " " (prefix(new)) } }
            @if let Some(old) = before { dt { "Replaces" } dd { (link(call.inner, old)) " " (prefix(old)) } }
        }
    }
}

fn rename(call: Call<'_>, key: &CredentialRecord, refused: Refused<'_>) -> Markup {
    let value = refused.name.map_or_else(|| key.name.as_deref().unwrap_or_default(), |(name, _)| name);
    let fault = refused.name.map(|(_, fault)| fault);
    html! {
        form method="post" action=(call.inner.addresses.key(&key.identity.credential_id, "/name")) {
            label for="name" { "Name" }
            div.row {
                input id="name" name="name" value=(value) autocomplete="off" maxlength=(MAX_NAME) required
                    autofocus[fault.is_some()] aria-invalid=[fault.map(|_| "true")] aria-describedby="name-hint";
                button { "Rename" }
            }
            (hint("name-hint", "Only the name can change. For other scopes create another key.", fault))
        }
    }
}

fn rotate(call: Call<'_>, key: &CredentialRecord, refused: Refused<'_>) -> Markup {
    html! {
        p { "Creates a new key with the same name, scopes and lifetime. Both work until the old one ends." }
        form method="post" action=(call.inner.addresses.key(&key.identity.credential_id, "/rotate")) {
            input type="hidden" name="nonce" value=(Nonce::fresh(call.now).text());
            fieldset aria-describedby="overlap-hint" {
                legend { "The old key ends" }
                @for (choice, _, words) in OVERLAPS {
                    label.choice {
                        input type="radio" name="overlap" value=(choice) checked[choice == DEFAULT_OVERLAP];
                        span { (words) }
                    }
                }
                (hint("overlap-hint", "Switch to the new key before then.", refused.rotate))
            }
            button { "Rotate key" }
        }
    }
}
