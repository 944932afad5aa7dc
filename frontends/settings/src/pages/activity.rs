//! What was done with the account's keys.

use catalogue_core::storage::CredentialEvent;
use maud::{Markup, html};

use super::frame::Frame;
use super::list::words;
use crate::call::{Call, MAX_EVENTS};
use crate::times::time;

pub(super) fn page(call: Call<'_>, events: &[CredentialEvent]) -> Markup {
    let Call { inner, owner, .. } = call;
    let content = html! {
        @if events.is_empty() { p.empty { "Nothing was done yet." } } @else { (list(call, events)) }
        @if events.len() == MAX_EVENTS { p.hint { "The last " (MAX_EVENTS) " changes are shown." } }
        p { a href=(inner.addresses.page("")) { "Back to the keys" } }
    };
    Frame { inner, owner: Some(owner) }.page("Activity", &content)
}

pub(super) fn list(call: Call<'_>, events: &[CredentialEvent]) -> Markup {
    html! {
        ul.events {
            @for event in events {
                li {
                    span { (words(event.action)) }
                    @if let Some(id) = &event.credential_id {
                        " "
                        a href=(call.inner.addresses.key(id, "")) { bdi { (event.name.as_deref().unwrap_or(id)) } }
                    }
                    span.muted { " by " bdi { (event.actor.as_str()) } " " (time(event.at, call.now)) }
                }
            }
        }
    }
}
