//! [`Frame`]: the surroundings of all pages, and parts that several pages share.

use catalogue_core::Timestamp;
use catalogue_core::admin::{CredentialRecord, CredentialState};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::input::FieldError;
use crate::owner::{Owner, SignOut};
use crate::settings::Inner;
use crate::times::time;

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// An empty icon, so that browsers do not request one.
const ICON: &str = "data:,";

/// Surroundings of a page.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    pub(crate) inner: &'f Inner,
    pub(crate) owner: Option<&'f Owner>,
}

impl Frame<'_> {
    /// Returns a whole page.
    pub(crate) fn page(self, title: &str, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) " · Developer settings" }
                    link rel="icon" href=(ICON);
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (self.header())
                    main {
                        h1 { bdi { (title) } }
                        (content)
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }

    fn header(self) -> Markup {
        let home = self.inner.urls.page("");
        html! {
            header {
                @if let Some((name, url)) = &self.inner.brand {
                    a.brand href=(url) { bdi { (name) } }
                }
                a.home href=(home) { "Developer settings" }
                @if let Some(owner) = self.owner {
                    div.owner {
                        bdi { (owner.name_or_id()) }
                        @match &owner.sign_out {
                            SignOut::Elsewhere => {},
                            SignOut::Link(url) => { a href=(url) { "Sign out" } },
                            SignOut::Form => {
                                form method="post" action=(self.inner.urls.page("/sign-out")) {
                                    button.link { "Sign out" }
                                }
                            },
                        }
                    }
                }
            }
        }
    }
}

/// Returns the name of a key, or the id of a token without a name.
pub(crate) fn name_of(key: &CredentialRecord) -> &str {
    key.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&key.identity.credential_id)
}

/// Returns a key's name, isolated from the surrounding text's writing direction.
pub(crate) fn name(key: &CredentialRecord) -> Markup {
    html! { bdi { (name_of(key)) } }
}

/// Returns a key's name as a link to its page.
pub(crate) fn link(inner: &Inner, key: &CredentialRecord) -> Markup {
    html! { a href=(inner.urls.key(&key.identity.credential_id, "")) { (name(key)) } }
}

/// Returns the first characters of a key, with an ellipsis.
pub(crate) fn prefix(key: &CredentialRecord) -> Markup {
    html! { code { (key.shown_prefix) "…" } }
}

/// Returns the state's name with a sign, so that states differ by more than their color.
pub(crate) fn state(state: CredentialState) -> Markup {
    let sign = match state {
        CredentialState::Valid => "✓",
        CredentialState::Ending => "◔",
        _ => "✕",
    };
    html! { span class={ "state " (state.name()) } { span aria-hidden="true" { (sign) } " " (state.name()) } }
}

/// Returns when a key was used last.
pub(crate) fn last_use(key: &CredentialRecord, now: Timestamp) -> Markup {
    match key.last_used_at {
        Some(at) => html! { "Last used " (time(at, now)) },
        None => html! { "Never used" },
    }
}

/// Returns how and when a key ends or has ended.
pub(crate) fn end_of(key: &CredentialRecord, now: Timestamp) -> (&'static str, Option<Timestamp>) {
    match (key.revoked_at, key.expires_at) {
        (Some(at), _) => ("Revoked", Some(at)),
        (None, Some(at)) if at <= now => ("Expired", Some(at)),
        (None, at) => ("Expires", at),
    }
}

/// Returns how and when a key ends or has ended, in words.
pub(crate) fn end(key: &CredentialRecord, now: Timestamp) -> Markup {
    match end_of(key, now) {
        (word, Some(at)) => html! { (word) " " (time(at, now)) },
        (_, None) => html! { "Never expires" },
    }
}

/// Returns the hint below a field, or its error instead.
pub(crate) fn hint(id: &str, hint: &str, error: Option<&FieldError>) -> Markup {
    match error {
        Some(error) => html! { p.error id=(id) { span aria-hidden="true" { "✕ " } (error.sentence()) } },
        None => html! { p.hint id=(id) { (hint) } },
    }
}

/// Returns the curl command of the API's documents. If no origin is configured, the script inserts that of the page.
pub(crate) fn curl(inner: &Inner) -> Markup {
    let (base, settings) = (&inner.urls.base, &inner.urls.settings);
    let origin = if base.origin().is_empty() { settings.origin() } else { base.origin() };
    let lines = code(
        "Copy the curl command",
        &html! {
            "curl -H \"Authorization: Bearer $API_KEY\" \\\n  \""
            @if origin.is_empty() { span data-origin { "$SERVER" } } @else { (origin) }
            (base.path()) "/courses\""
        },
    );
    html! {
        (lines)
        @if origin.is_empty() {
            noscript { p.hint { "Replace $SERVER with this server's URL, such as https://api.example.com." } }
        }
    }
}

/// Returns lines to paste, with a button that is hidden without the script.
pub(crate) fn code(label: &str, lines: &Markup) -> Markup {
    html! {
        div.code {
            pre { code { (lines) } }
            button type="button" aria-label=(label) hidden data-copy { "Copy" }
        }
    }
}
