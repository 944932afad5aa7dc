//! The form of a new key.

use catalogue_core::Timestamp;
use catalogue_core::auth::Scope;
use maud::{Markup, html};

use super::frame::{Frame, hint};
use crate::call::Call;
use crate::form::Form;
use crate::input::{self, DEFAULT_EXPIRY, FieldError, LIFETIMES, MAX_NAME, NewKey};
use crate::nonce::Nonce;

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

/// Returns the form with the values of a link or of a rejected form, and each error next to its field.
pub(super) fn page(call: Call<'_>, values: &Form, errors: &[FieldError]) -> Markup {
    let Call { inner, owner, now } = call;
    let default_choice = if errors.is_empty() { DEFAULT_EXPIRY } else { "" };
    let expires = values.all("expires").next().unwrap_or(default_choice);
    let is_chosen = |scope: &Scope| values.all("scope").any(|name| name == scope.name());
    let error = |field: &str| errors.iter().find(|error| error.parameter == field);
    let is_first = |field: &str| errors.first().is_some_and(|error| error.parameter == field);
    let content = html! {
        @if errors.is_empty() && !values.is_empty() { p.notice { "These values came with the link. Check them." } }
        @if let Some(error) = error("nonce") { p.error role="alert" { (error.sentence()) } }
        form.fields method="post" action=(inner.urls.page("/keys")) {
            input type="hidden" name="nonce" value=(Nonce::fresh(now).text());
            div {
                label for="name" { "Name" }
                input id="name" name="name" value=(values.first_or_empty("name")) autocomplete="off" maxlength=(MAX_NAME) required
                    autofocus[errors.is_empty() || is_first("name")] aria-invalid=[error("name").map(|_| "true")]
                    aria-describedby="name-hint";
                (hint("name-hint", "The program that will use it, such as \"website\".", error("name")))
            }
            fieldset aria-describedby="scope-hint" {
                legend { "Scopes" }
                @for (number, (scope, grants)) in Scope::DEFINED.iter().enumerate() {
                    label.choice {
                        input type="checkbox" name="scope" value=(scope.name()) checked[is_chosen(scope)]
                            autofocus[number == 0 && is_first("scope")];
                        span { code { (scope.name()) } span.hint { (grants) } }
                    }
                }
                (hint("scope-hint", "Scopes cannot be changed later. For other scopes, create another key.", error("scope")))
            }
            fieldset aria-describedby="expires-hint" {
                legend { "Expires" }
                div.choices {
                    @for (choice, days) in LIFETIMES {
                        (radio(choice, expires, &html! { "in " (days) " days" }))
                    }
                }
                (radio("date", expires, &html! { "on a date" }))
                div.inset {
                    input id="date" name="date" type="date" value=(values.first_or_empty("date")) aria-label="Date" autofocus[is_first("date")]
                        aria-invalid=[error("date").map(|_| "true")] aria-describedby="date-hint";
                    (hint("date-hint", "The key works until this day ends, in UTC.", error("date")))
                }
                (radio("never", expires, &html! { "never" }))
                (hint("expires-hint", "Keys without expiry need regular review.", error("expires")))
            }
            div.row {
                button.primary { "Create key" }
                a href=(inner.urls.page("")) { "Back to the keys" }
            }
        }
    };
    Frame { inner, owner: Some(owner) }.page("New key", &content)
}

fn radio(choice: &str, chosen: &str, text: &Markup) -> Markup {
    html! {
        label.choice {
            input type="radio" name="expires" value=(choice) checked[choice == chosen];
            span { (text) }
        }
    }
}
