//! The page of a failure, with the way back.

use maud::{Markup, html};

use super::frame::Frame;
use crate::failure::Failure;

pub(crate) fn page(frame: Frame<'_>, failure: &Failure, request_id: &str, at_sign_in: bool) -> Markup {
    let title = match failure {
        Failure::NotFound => "Not found",
        Failure::AlreadyThere(_) => "Made already",
        Failure::Storage(_) => "The server failed",
        _ => "That did not work",
    };
    let addresses = &frame.inner.addresses;
    let content = html! {
        p role="alert" {
            // Without the name of the form's field, which people do not see.
            @match failure { Failure::Field(fault) => (fault.sentence()), _ => (failure.sentence()) }
        }
        @if let Failure::Storage(_) = failure { p.muted { "Request " code { (request_id) } } }
        @if let Failure::AlreadyThere(id) = failure { p { a.button href=(addresses.key(id, "")) { "Open the key" } } }
        p {
            @if at_sign_in { a href=(addresses.page("/sign-in")) { "Back to sign-in" } }
            @else { a href=(addresses.page("")) { "Back to the keys" } }
        }
    };
    frame.page(title, &content)
}
