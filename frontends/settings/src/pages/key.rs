//! The page of a key.

use std::time::Duration;

use catalogue_core::admin::{CredentialRecord, CredentialState};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::{CredentialAction, CredentialEvent};
use maud::{Markup, html};

use super::frame::{end_of, hint, last_use, link, name, name_of, prefix, radio, scopes, state};
use super::{activity, list};
use crate::call::Call;
use crate::form::Form;
use crate::input::{DEFAULT_OVERLAP, FieldError, OVERLAPS};
use crate::nonce::Nonce;
use crate::times::{dated, exact};

/// Maximum number of the account's events among which the key's changes are searched.
pub(super) const MAX_EVENTS: usize = 1000;

/// Maximum number of changes that are shown.
const MAX_CHANGES: usize = 20;

/// An invalid form of this page, and its error.
pub(super) type RefusedForm<'r> = Option<(&'r Form, &'r FieldError)>;

pub(super) fn page(
    call: Call<'_>,
    key: &CredentialRecord,
    keys: &[CredentialRecord],
    events: &[CredentialEvent],
    refused: RefusedForm<'_>,
) -> Markup {
    let now = call.now;
    let id = &*key.identity.credential_id;
    let key_state = key.state(now);
    let changes: Vec<_> =
        events.iter().filter(|event| event.credential_id.as_deref() == Some(id)).take(MAX_CHANGES).cloned().collect();
    let may_have_older = events.len() == MAX_EVENTS
        && changes.len() < MAX_CHANGES
        && changes.last().is_none_or(|first| first.action != CredentialAction::KeyCreated);
    let content = html! {
        (call.frame().breadcrumb(name_of(key)))
        div.title {
            h1 { (name(key)) }
            (state(key_state))
            @if key_state.is_active() { (rename(call, key, refused)) }
        }
        (list::advice(call, key, keys))
        (facts(call, key, keys))
        @if key_state == CredentialState::Valid && key.identity.kind == CredentialKind::ApiKey {
            h2 id="rotate" { "Rotate" }
            (rotate(call, key, refused))
        }
        @if !changes.is_empty() || may_have_older {
            h2 { "Activity" }
            @if !changes.is_empty() { (activity::table(call, &changes, false)) }
            @if may_have_older { p.hint { "Older changes are not shown." } }
        }
        @if key_state.is_active() {
            section.danger {
                h2 { "Revoke" }
                p { "Programs that use " strong { (name(key)) } " are refused from the next request on. " (last_use(key, now)) }
                p { a.button.bad href=(call.inner.urls.key(id, "/revoke")) { "Revoke key…" } }
            }
        }
    };
    call.frame().section("", name_of(key), &content)
}

fn facts(call: Call<'_>, key: &CredentialRecord, keys: &[CredentialRecord]) -> Markup {
    let now = call.now;
    let id = &*key.identity.credential_id;
    let find = |id: &str| keys.iter().find(|key| *key.identity.credential_id == *id);
    let successor = key.replaced_by.as_deref().and_then(find);
    let (word, end) = end_of(key, now);
    let predecessor = keys.iter().find(|old| old.replaced_by.as_deref() == Some(id));
    html! {
        dl.card {
            dt { "Key" } dd { (prefix(key)) }
            dt { "Id" } dd { code { (id) } }
            dt { "Scopes" } dd { (scopes(key)) }
            dt { "Created" } dd { (dated(key.created_at, now)) }
            dt { "Last used" }
            dd { @match key.last_used_at { Some(at) => (dated(at, now)), None => { "never " span.hint { "(uses appear within a minute)" } } } }
            dt { (word) }
            dd {
                @match end { Some(at) => (dated(at, now)), None => "never" }
                @if key.expires_at.is_some() && key.state(now).is_active() {
                    " · " a href=(call.inner.urls.key(id, "/reminder.ics")) { "Add a reminder to your calendar" }
                }
            }
            @if let Some(new) = successor { dt { "Successor" } dd { (link(call.inner, new)) " " (prefix(new)) } }
            @if let Some(old) = predecessor { dt { "Replaces" } dd { (link(call.inner, old)) " " (prefix(old)) } }
        }
    }
}

/// Returns the form next to the title, open if its value was refused.
fn rename(call: Call<'_>, key: &CredentialRecord, refused: RefusedForm<'_>) -> Markup {
    let refused = refused.filter(|(_, error)| error.parameter == "name");
    let value =
        refused.map_or_else(|| key.name.as_deref().unwrap_or_default(), |(form, _)| form.first_or_empty("name"));
    let error = refused.map(|(_, error)| error.sentence());
    html! {
        details.rename open[error.is_some()] {
            summary.button { "Rename" }
            form method="post" action=(call.inner.urls.key(&key.identity.credential_id, "/name")) {
                label for="name" { "New name" }
                div.row {
                    input id="name" name="name" value=(value) autocomplete="off" required autofocus[error.is_some()]
                        aria-invalid=[error.map(|_| "true")] aria-describedby="name-hint";
                    button.primary { "Save name" }
                }
                (hint("name-hint", "At most 100 characters.", error))
            }
        }
    }
}

fn rotate(call: Call<'_>, key: &CredentialRecord, refused: RefusedForm<'_>) -> Markup {
    let error = refused.map(|(_, error)| error).filter(|error| error.parameter != "name").map(FieldError::sentence);
    html! {
        form.card method="post" action=(call.inner.urls.key(&key.identity.credential_id, "/rotate")) {
            p { "Creates a new key with the same name, scopes and lifetime. Both work until the old one ends." }
            input type="hidden" name="nonce" value=(Nonce::fresh(call.now).text());
            fieldset aria-describedby="overlap-hint" {
                legend { "The old key ends" }
                @for (choice, seconds, words) in OVERLAPS {
                    @let end = call.now.checked_add(Duration::from_secs(seconds)).filter(|_| seconds > 0);
                    (radio("overlap", choice, DEFAULT_OVERLAP, words, &html! { @if let Some(end) = end { (exact(end)) } }))
                }
                (hint("overlap-hint", "Switch to the new key before then.", error))
            }
            button { "Rotate key" }
        }
    }
}
