//! The form of a new key.

use catalogue_core::Timestamp;
use catalogue_core::auth::Scope;
use maud::{Markup, html};

use super::frame::{hint, radio};
use crate::call::Call;
use crate::form::Form;
use crate::input::{self, DAY, DEFAULT_EXPIRY, FieldError, LIFETIMES, NewKey};
use crate::nonce::Nonce;
use crate::times::last_day;

/// Returns the form with the values of the link that led to it. Invalid values are left out.
pub(super) fn from_link(call: Call<'_>, query: &Form) -> Markup {
    let values = query.filtered(|field, value| match field {
        "name" => input::name(value).is_ok(),
        "scope" => input::scopes([value]).is_ok(),
        "expires" => value == "never" || LIFETIMES.iter().any(|(name, _)| *name == value),
        _ => false,
    });
    page(call, &values, &[])
}

/// Returns the values of the form, or all its errors.
pub(super) fn parse(form: &Form, now: Timestamp) -> Result<(NewKey, Nonce), Vec<FieldError>> {
    let mut errors = Vec::new();
    let name = ok_or_push(form.one("name").and_then(input::name), &mut errors);
    let scopes = ok_or_push(input::scopes(form.all("scope")).map_err(|reason| reason.of("scope")), &mut errors);
    let expires_at = ok_or_push(expiry(form, now), &mut errors);
    let nonce = form.one("nonce").and_then(|nonce| Nonce::parse(nonce, now));
    match (name, scopes, expires_at, ok_or_push(nonce, &mut errors)) {
        (Some(name), Some(scopes), Some(expires_at), Some(nonce)) => Ok((NewKey { name, scopes, expires_at }, nonce)),
        _ => Err(errors),
    }
}

fn expiry(form: &Form, now: Timestamp) -> Result<Option<Timestamp>, FieldError> {
    let (choice, date) = (form.one("expires")?, form.one("date")?);
    input::expiry(choice, date, now).map_err(|reason| reason.of(if choice == "date" { "date" } else { "expires" }))
}

fn ok_or_push<T>(value: Result<T, FieldError>, errors: &mut Vec<FieldError>) -> Option<T> {
    value.map_err(|error| errors.push(error)).ok()
}

/// Returns what the owner of a key with `scope` gives away.
const fn gives(scope: &Scope) -> &'static str {
    match scope {
        Scope::ReadCourses => "Read your courses and module titles",
        _ => "See which account a key belongs to",
    }
}

/// Returns the form with the values of a link or of a rejected form, and each error next to its field.
pub(super) fn page(call: Call<'_>, values: &Form, errors: &[FieldError]) -> Markup {
    let Call { inner, now, .. } = call;
    let default = |choice: &'static str| if errors.is_empty() { choice } else { "" };
    let expires = values.all("expires").next().unwrap_or(default(DEFAULT_EXPIRY));
    let default_scope = values.all("scope").next().is_none().then_some(default(Scope::ReadCourses.name()));
    let is_chosen = |scope: &Scope| values.all("scope").chain(default_scope).any(|name| name == scope.name());
    let error = |field: &str| errors.iter().find(|error| error.parameter == field).map(FieldError::sentence);
    let is_first = |field: &str| errors.first().is_some_and(|error| error.parameter == field);
    let content = html! {
        @if errors.is_empty() && !values.is_empty() { p.notice { "These values came with the link. Check them." } }
        @if let Some(error) = error("nonce") { p.warning role="alert" { (error) } }
        form.fields method="post" action=(inner.urls.page("/keys")) {
            input type="hidden" name="nonce" value=(Nonce::fresh(now).text());
            div {
                label for="name" { "Name" }
                input id="name" name="name" value=(values.first_or_empty("name")) autocomplete="off" required
                    autofocus[errors.is_empty() || is_first("name")] aria-invalid=[error("name").map(|_| "true")]
                    aria-describedby="name-hint";
                (hint("name-hint", "The program that will use it, such as \"website\". At most 100 characters.", error("name")))
            }
            fieldset aria-describedby="scope-hint" {
                legend { "Scopes" }
                @for (number, (scope, _)) in Scope::DEFINED.iter().rev().enumerate() {
                    label.choice {
                        input type="checkbox" name="scope" value=(scope.name()) checked[is_chosen(scope)]
                            autofocus[number == 0 && is_first("scope")];
                        span { code { (scope.name()) } span.hint { (gives(scope)) } }
                    }
                }
                (hint("scope-hint", "Scopes cannot be changed later. For other scopes, create another key.", error("scope")))
            }
            fieldset aria-describedby="expires-hint" {
                legend { "Expires" }
                @for (choice, days) in LIFETIMES {
                    @let end = now.checked_add(DAY * days).map(last_day);
                    (radio("expires", choice, expires, &format!("in {days} days"), &html! { (end.unwrap_or_default()) }))
                }
                (radio("expires", "date", expires, "on a date", &html! {}))
                div.inset {
                    input id="date" name="date" type="date" value=(values.first_or_empty("date")) aria-label="Date" autofocus[is_first("date")]
                        aria-invalid=[error("date").map(|_| "true")] aria-describedby="date-hint";
                    (hint("date-hint", "The key works until this day ends, in UTC.", error("date")))
                }
                (radio("expires", "never", expires, "never", &html! { "Keys that never expire stay dangerous if they leak." }))
                (hint("expires-hint", "Before a key expires, you can rotate it.", error("expires")))
            }
            div.row {
                button.primary { "Create key" }
                a.button href=(inner.urls.page("")) { "Cancel" }
            }
        }
    };
    call.frame().page("New key", &content)
}
