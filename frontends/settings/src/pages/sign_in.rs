//! The page that a sign-in link leads to. Without script, the code is pasted.

use maud::{Markup, html};

use super::frame::Frame;
use crate::failure::Failure;
use crate::sign_in::SIGNED_OUT;

/// Returns the page. `why` is the reason for which the client sees it: its session has ended, or its code was refused.
pub(crate) fn page(frame: Frame<'_>, next: Option<&str>, why: Option<&Failure>) -> Markup {
    let content = html! {
        @match why {
            Some(Failure::SignedOut(SIGNED_OUT, _)) => { p.done role="status" { "You are signed out." } },
            Some(failure) => {
                p.warning role="alert" {
                    (failure.sentence())
                    // With `next`, the request only viewed a page, so it could not have changed anything.
                    @if matches!(failure, Failure::SignedOut(..)) && next.is_none() { " Nothing was done." }
                }
            },
            None => {},
        }
        form method="post" action=(frame.inner.urls.page("/sign-in")) data-sign-in {
            @if let Some(next) = next { input type="hidden" name="next" value=(next); }
            div.field {
                p { "Open these settings from your course platform, or ask the operator of this service for a sign-in link. A link works once." }
                label for="code" { "Sign-in code" }
                input id="code" name="code" autocomplete="off" spellcheck="false" autocapitalize="none" required autofocus
                    aria-describedby="code-hint";
                p.hint id="code-hint" { "It starts with csin_, at the end of the link. The whole link works too." }
            }
            button.primary { "Sign in" }
        }
    };
    frame.page("Sign in", &content)
}
