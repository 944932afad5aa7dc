//! The form of a new key.

use catalogue_core::Timestamp;
use catalogue_core::auth::Scope;
use maud::{Markup, html};

use super::frame::{Frame, hint};
use crate::call::Call;
use crate::form::Form;
use crate::input::{self, DEFAULT_EXPIRY, Fault, LIFETIMES, MAX_NAME, NewKey};
use crate::nonce::Nonce;

/// What stands in the fields.
struct Values<'v> {
    name: &'v str,
    scopes: Vec<&'v str>,
    expires: &'v str,
    date: &'v str,
}

/// The form, with the values of the link that led to it. What does not fit is left out.
pub(super) fn from_link(call: Call<'_>, query: &Form) -> Markup {
    let fits = |choice: &str| choice == "never" || LIFETIMES.iter().any(|(name, _)| *name == choice);
    let values = Values {
        name: Some(query.shown("name")).filter(|name| input::name(name).is_ok()).unwrap_or_default(),
        scopes: query.all("scope").filter(|scope| input::scopes([*scope]).is_ok()).collect(),
        expires: Some(query.shown("expires")).filter(|choice| fits(choice)).unwrap_or(DEFAULT_EXPIRY),
        date: "",
    };
    let has_come = !values.name.is_empty() || !values.scopes.is_empty() || fits(query.shown("expires"));
    page(call, &values, &[], has_come)
}

/// The form once more, with what is wrong beside its field.
pub(super) fn again(call: Call<'_>, form: &Form, faults: &[Fault]) -> Markup {
    let values = Values {
        name: form.shown("name"),
        scopes: form.all("scope").collect(),
        expires: form.shown("expires"),
        date: form.shown("date"),
    };
    page(call, &values, faults, false)
}

/// What the form asks for, or all that is wrong with it.
pub(super) fn parse(form: &Form, now: Timestamp) -> Result<(NewKey, Nonce), Vec<Fault>> {
    let mut faults = Vec::new();
    let name = keep(form.one("name").and_then(input::name), &mut faults);
    let scopes = keep(input::scopes(form.all("scope")).map_err(|reason| reason.of("scope")), &mut faults);
    let expires_at = keep(expiry(form, now), &mut faults);
    let nonce = form.one("nonce").and_then(|nonce| Nonce::parse(nonce, now));
    match (name, scopes, expires_at, keep(nonce, &mut faults)) {
        (Some(name), Some(scopes), Some(expires_at), Some(nonce)) => Ok((NewKey { name, scopes, expires_at }, nonce)),
        _ => Err(faults),
    }
}

fn expiry(form: &Form, now: Timestamp) -> Result<Option<Timestamp>, Fault> {
    let (choice, date) = (form.one("expires")?, form.one("date")?);
    input::expiry(choice, date, now).map_err(|reason| reason.of(if choice == "date" { "date" } else { "expires" }))
}

fn keep<T>(value: Result<T, Fault>, faults: &mut Vec<Fault>) -> Option<T> {
    value.map_err(|fault| faults.push(fault)).ok()
}

fn page(call: Call<'_>, values: &Values<'_>, faults: &[Fault], from_link: bool) -> Markup {
    let Call { inner, owner, now } = call;
    let fault = |field: &str| faults.iter().find(|fault| fault.parameter == field);
    let is_first = |field: &str| faults.first().is_some_and(|fault| fault.parameter == field);
    let content = html! {
        @if from_link { p.notice { "These values came with the link. Check them." } }
        @if let Some(fault) = fault("nonce") { p.fault role="alert" { (fault.sentence()) } }
        form.fields method="post" action=(inner.addresses.page("/keys")) {
            input type="hidden" name="nonce" value=(Nonce::fresh(now).text());
            div {
                label for="name" { "Name" }
                input id="name" name="name" value=(values.name) autocomplete="off" maxlength=(MAX_NAME) required
                    autofocus[faults.is_empty() || is_first("name")] aria-invalid=[fault("name").map(|_| "true")]
                    aria-describedby="name-hint";
                (hint("name-hint", "The program that will use it, such as \"website\".", fault("name")))
            }
            fieldset aria-describedby="scope-hint" {
                legend { "Scopes" }
                @for (number, (scope, grants)) in Scope::DEFINED.iter().enumerate() {
                    label.choice {
                        input type="checkbox" name="scope" value=(scope.name()) checked[values.scopes.contains(&scope.name())]
                            autofocus[number == 0 && is_first("scope")];
                        span { code { (scope.name()) } span.hint { (grants) } }
                    }
                }
                (hint("scope-hint", "Scopes cannot change later. For others create another key.", fault("scope")))
            }
            fieldset aria-describedby="expires-hint" {
                legend { "Expires" }
                div.choices {
                    @for (choice, days) in LIFETIMES {
                        (radio(choice, values.expires, &html! { "in " (days) " days" }))
                    }
                }
                (radio("date", values.expires, &html! { "on a date" }))
                div.inset {
                    input id="date" name="date" type="date" value=(values.date) aria-label="Date" autofocus[is_first("date")]
                        aria-invalid=[fault("date").map(|_| "true")] aria-describedby="date-hint";
                    (hint("date-hint", "The key works until this day ends, in UTC.", fault("date")))
                }
                (radio("never", values.expires, &html! { "never" }))
                (hint("expires-hint", "A key that never ends must be looked after.", fault("expires")))
            }
            div.row {
                button.primary { "Create key" }
                a href=(inner.addresses.page("")) { "Back to the keys" }
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
