//! The page of a failure, with the way back.

use maud::{Markup, html};

use super::frame::Frame;
use crate::failure::Failure;

pub(crate) fn page(frame: Frame<'_>, failure: &Failure, request_id: &str, at_sign_in: bool) -> Markup {
    let title = match failure {
        Failure::NotFound => "Not found",
        Failure::AlreadyExists(_) => "Already created",
        Failure::Storage(_) => "Server error",
        _ => "Request failed",
    };
    let urls = &frame.inner.urls;
    let content = html! {
        p role="alert" {
            // Without the name of the form's field, which people do not see.
            @match failure { Failure::Field(error) => (error.sentence()), _ => (failure.sentence()) }
        }
        @if let Failure::Storage(_) = failure { p.muted { "Request " code { (request_id) } } }
        @if let Failure::AlreadyExists(id) = failure { p { a.button href=(urls.key(id, "")) { "Open the key" } } }
        p {
            @if at_sign_in { a href=(urls.page("/sign-in")) { "Back to sign-in" } }
            @else { a href=(urls.page("")) { "Back to the keys" } }
        }
    };
    frame.page(title, &content)
}
