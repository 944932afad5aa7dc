//! The page of an account's events.

use catalogue_core::storage::CredentialEvent;
use maud::{Markup, html};

use super::frame::Frame;
use super::list::words;
use crate::call::{Call, MAX_EVENTS};
use crate::times::time;

pub(super) fn page(call: Call<'_>, events: &[CredentialEvent]) -> Markup {
    let Call { inner, owner, .. } = call;
    let content = html! {
        @if events.is_empty() { p.empty { "No activity yet." } } @else { (list(call, events, true)) }
        @if events.len() == MAX_EVENTS { p.hint { "The last " (MAX_EVENTS) " changes are shown." } }
        p { a href=(inner.urls.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page("Activity", &content)
}

/// Returns a list of changes in the given order; `names_keys` adds the key of each change.
pub(super) fn list(call: Call<'_>, events: &[CredentialEvent], names_keys: bool) -> Markup {
    html! {
        ul.events {
            @for event in events {
                li {
                    span {
                        (words(event.action))
                        @if let Some(id) = event.credential_id.as_ref().filter(|_| names_keys) {
                            " "
                            a href=(call.inner.urls.key(id, "")) { bdi { (event.name.as_deref().unwrap_or(id)) } }
                        }
                    }
                    span.muted { " by " bdi { (event.actor.as_str()) } " " (time(event.at, call.now)) }
                }
            }
        }
    }
}
