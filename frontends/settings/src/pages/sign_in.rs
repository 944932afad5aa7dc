//! The page to paste a sign-in code into.

use maud::{Markup, html};

use super::frame::Frame;
use crate::failure::Failure;

/// Returns the page. `refused` is why the client sees it: its session has ended, or its code was refused.
pub(crate) fn page(frame: Frame<'_>, next: Option<&str>, refused: Option<&Failure>) -> Markup {
    let content = html! {
        @if let Some(failure) = refused {
            p.warning role="alert" {
                (failure.sentence())
                // With `next`, the request only viewed a page, so it could not have changed anything.
                @if matches!(failure, Failure::SignedOut(..)) && next.is_none() { " Nothing was done." }
            }
        }
        p { "Enter the code from your sign-in link. The operator of this service creates it for you; it works once." }
        form method="post" action=(frame.inner.urls.page("/sign-in")) data-sign-in {
            @if let Some(next) = next { input type="hidden" name="next" value=(next); }
            label for="code" { "Sign-in code" }
            div.row {
                input id="code" name="code" autocomplete="off" spellcheck="false" autocapitalize="none" required
                    autofocus aria-describedby="code-hint";
                button.primary { "Sign in" }
            }
            p.hint id="code-hint" { "It starts with csin_, at the end of the link. The whole link works too." }
        }
    };
    frame.page("Sign in", &content)
}
