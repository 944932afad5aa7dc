//! The page of an account's events.

use catalogue_core::storage::{Actor, CredentialAction, CredentialEvent};
use maud::{Markup, html};

use super::frame::ACTIVITY;
use crate::call::{Call, MAX_EVENTS};
use crate::times::dated;

pub(super) fn page(call: Call<'_>, events: &[CredentialEvent]) -> Markup {
    let content = html! {
        h1 { "Activity" }
        @if events.is_empty() { div.empty { p { strong { "No activity yet" } } } } @else { (table(call, events, true)) }
        @if events.len() == MAX_EVENTS { p.hint { "The last " (MAX_EVENTS) " changes are shown." } }
    };
    call.frame().section(ACTIVITY, "Activity", &content)
}

/// Returns a table of changes in the given order; `names_keys` adds the key of each change.
pub(super) fn table(call: Call<'_>, events: &[CredentialEvent], names_keys: bool) -> Markup {
    html! {
        table.events {
            thead { tr {
                th scope="col" { "Date" }
                th scope="col" { "What" }
                @if names_keys { th scope="col" { "Key" } }
                th scope="col" { "By" }
            } }
            tbody {
                @for event in events {
                    tr {
                        td { (dated(event.at, call.now)) }
                        td { (words(event.action)) }
                        @if names_keys {
                            td {
                                @if let Some(id) = &event.credential_id {
                                    a href=(call.inner.urls.key(id, "")) { bdi { (event.name.as_deref().unwrap_or(id)) } }
                                }
                            }
                        }
                        td data-label="By" { bdi { (author(call, &event.actor)) } }
                    }
                }
            }
        }
    }
}

/// Returns the name of the person who made a change, or the owner's if the host application does not tell people apart.
fn author<'a>(call: Call<'a>, actor: &'a Actor) -> &'a str {
    if *actor == Actor::OWNER { call.owner.name_or_id() } else { actor.as_str().trim_start_matches("owner ") }
}

/// Returns the event's action in words.
const fn words(action: CredentialAction) -> &'static str {
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
