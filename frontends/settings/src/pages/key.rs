//! The page of a key.

use catalogue_core::admin::{CredentialRecord, CredentialState};
use catalogue_core::auth::CredentialKind;
use catalogue_core::storage::{CredentialAction, CredentialEvent};
use maud::{Markup, html};

use super::frame::{Frame, end_of, hint, link, name, name_of, prefix, state};
use super::{activity, list};
use crate::call::Call;
use crate::form::Form;
use crate::input::{DEFAULT_OVERLAP, FieldError, MAX_NAME, OVERLAPS};
use crate::nonce::Nonce;
use crate::times::time;

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
    let Call { inner, owner, now } = call;
    let id = &*key.identity.credential_id;
    let at = |below: &str| inner.urls.key(id, below);
    let key_state = key.state(now);
    let changes: Vec<_> =
        events.iter().filter(|event| event.credential_id.as_deref() == Some(id)).take(MAX_CHANGES).cloned().collect();
    let may_have_older = events.len() == MAX_EVENTS
        && changes.len() < MAX_CHANGES
        && changes.last().is_none_or(|first| first.action != CredentialAction::KeyCreated);
    let content = html! {
        p.top { (state(key_state)) (prefix(key)) }
        (list::advice(call, key, keys))
        (facts(call, key, keys))
        @if key_state == CredentialState::Valid && key.identity.kind == CredentialKind::ApiKey {
            h2 id="rotate" { "Rotate" }
            (rotate(call, key, refused))
        }
        h2 { "Rename" }
        (rename(call, key, refused))
        @if !changes.is_empty() || may_have_older {
            h2 { "Changes" }
            @if !changes.is_empty() { (activity::list(call, &changes, false)) }
            @if may_have_older { p.hint { "Older changes are not shown." } }
        }
        @if key_state.is_active() {
            section.danger {
                h2 { "Revoke" }
                p { "Programs that use the key are refused from the next request on." }
                p { a.button.bad href=(at("/revoke")) { "Revoke " (name(key)) "…" } }
            }
        }
        p { a href=(inner.urls.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page(name_of(key), &content)
}

fn facts(call: Call<'_>, key: &CredentialRecord, keys: &[CredentialRecord]) -> Markup {
    let now = call.now;
    let id = &*key.identity.credential_id;
    let find = |id: &str| keys.iter().find(|key| *key.identity.credential_id == *id);
    let successor = key.replaced_by.as_deref().and_then(find);
    let (word, end) = end_of(key, now);
    let predecessor = keys.iter().find(|old| old.replaced_by.as_deref() == Some(id));
    html! {
        dl {
            dt { "Id" } dd { code { (id) } }
            dt { "Scopes" }
            dd { @for scope in key.identity.scopes.iter() { span.scope { (scope) } " " } }
            dt { "Created" } dd { (time(key.created_at, now)) }
            dt { "Last used" }
            dd {
                @match key.last_used_at { Some(at) => (time(at, now)), None => "never" }
                " " span.hint { "(recorded at most once a minute)" }
            }
            dt { (word) }
            dd {
                @match end { Some(at) => (time(at, now)), None => "never" }
                @if key.expires_at.is_some() && key.state(now).is_active() {
                    " · " a href=(call.inner.urls.key(id, "/reminder.ics")) { "Remind me" }
                }
            }
            @if let Some(new) = successor { dt { "Successor" } dd { (link(call.inner, new)) " " (prefix(new)) } }
            @if let Some(old) = predecessor { dt { "Replaces" } dd { (link(call.inner, old)) " " (prefix(old)) } }
        }
    }
}

fn rename(call: Call<'_>, key: &CredentialRecord, refused: RefusedForm<'_>) -> Markup {
    let refused = refused.filter(|(_, error)| error.parameter == "name");
    let value =
        refused.map_or_else(|| key.name.as_deref().unwrap_or_default(), |(form, _)| form.first_or_empty("name"));
    let error = refused.map(|(_, error)| error);
    html! {
        form method="post" action=(call.inner.urls.key(&key.identity.credential_id, "/name")) {
            label for="name" { "Name" }
            div.row {
                input id="name" name="name" value=(value) autocomplete="off" maxlength=(MAX_NAME) required
                    autofocus[error.is_some()] aria-invalid=[error.map(|_| "true")] aria-describedby="name-hint";
                button { "Rename" }
            }
            (hint("name-hint", "Only the name can be changed. For other scopes, create another key.", error))
        }
    }
}

fn rotate(call: Call<'_>, key: &CredentialRecord, refused: RefusedForm<'_>) -> Markup {
    let error = refused.map(|(_, error)| error).filter(|error| error.parameter != "name");
    html! {
        p { "Creates a new key with the same name, scopes and lifetime. Both work until the old one ends." }
        form method="post" action=(call.inner.urls.key(&key.identity.credential_id, "/rotate")) {
            input type="hidden" name="nonce" value=(Nonce::fresh(call.now).text());
            fieldset aria-describedby="overlap-hint" {
                legend { "The old key ends" }
                @for (choice, _, words) in OVERLAPS {
                    label.choice {
                        input type="radio" name="overlap" value=(choice) checked[choice == DEFAULT_OVERLAP];
                        span { (words) }
                    }
                }
                (hint("overlap-hint", "Switch to the new key before then.", error))
            }
            button { "Rotate key" }
        }
    }
}
