//! The list of keys.

use catalogue_core::Timestamp;
use catalogue_core::admin::CredentialRecord;
use maud::{Markup, html};

use super::check;
use super::frame::{curl, end_of, link, name, prefix, scopes, state, time_or_never};
use crate::call::{Call, MAX_ENDED};
use crate::form::Form;
use crate::key::{Hint, hints, successor};
use crate::times::time;

pub(super) fn page(call: Call<'_>, keys: &[CredentialRecord], query: &Form) -> Markup {
    let now = call.now;
    let (active, mut ended): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.state(now).is_active());
    ended.sort_by_key(|key| std::cmp::Reverse(key.end()));
    let content = html! {
        div.title {
            h1 { "API keys" }
            a.button.primary href=(call.inner.urls.page("/keys/new")) { "New key" }
        }
        (success_message(keys, query))
        @if active.is_empty() {
            div.empty {
                svg viewBox="0 0 48 48" aria-hidden="true" { path d="M20 28a8 8 0 1 1 0-.1L40 8m-8 8 5 5m-11 1 4 4" {} }
                p { strong { @if ended.is_empty() { "No keys yet" } @else { "No active keys" } } }
                p { "A program needs a key to read your courses through the API. Give each program its own." }
            }
        } @else {
            (table(call, "Expires", &grouped(&active, keys, now), keys))
            p.hint { "Uses appear here within a minute." }
        }
        @if !ended.is_empty() {
            details.ended {
                summary { "Ended keys (" (ended.len()) ")" }
                (table(call, "Ended", &ended.iter().map(|key| vec![*key]).collect::<Vec<_>>(), keys))
                @if ended.len() >= MAX_ENDED { p.hint { "The last " (MAX_ENDED) " are shown." } }
            }
        }
        @if !active.is_empty() {
            h2 { "Use a key" }
            (curl(call.inner))
        }
        details.help {
            summary { "Found a key in a log or a repository? Check whether it is yours." }
            (check::form(call, None))
        }
    };
    call.frame().section("", "API keys", &content)
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

/// Returns the active keys, newest first, in groups: a key and those that it replaces.
fn grouped<'k>(
    active: &[&'k CredentialRecord],
    keys: &[CredentialRecord],
    now: Timestamp,
) -> Vec<Vec<&'k CredentialRecord>> {
    let mut groups: Vec<Vec<&CredentialRecord>> = Vec::new();
    for key in active {
        let new = successor(key, keys, now).map(|new| &new.identity.credential_id);
        let has_new = |group: &&mut Vec<&CredentialRecord>| Some(&group[0].identity.credential_id) == new;
        match groups.iter_mut().find(has_new) {
            Some(group) => group.push(key),
            None => groups.push(vec![key]),
        }
    }
    groups
}

fn table(call: Call<'_>, end: &str, groups: &[Vec<&CredentialRecord>], keys: &[CredentialRecord]) -> Markup {
    let now = call.now;
    html! {
        table.keys {
            thead { tr { @for column in ["Name", "Key", "Scopes", "Last used", end, "State"] { th scope="col" { (column) } } } }
            @for group in groups {
                tbody {
                    @for key in group {
                        tr {
                            th scope="row" { (link(call.inner, key)) }
                            td { (prefix(key)) }
                            td { (scopes(key)) }
                            td data-label="Last used" { (time_or_never(key.last_used_at, now)) }
                            td data-label=(end_of(key, now).0) { (time_or_never(end_of(key, now).1, now)) }
                            td.state-cell { (state(key.state(now))) (advice(call, key, keys)) }
                        }
                    }
                }
            }
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
                        Hint::NeverUsed => { "It was never used. " a href=(at("/revoke")) { "Revoke it" } " if you do not need it." },
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
