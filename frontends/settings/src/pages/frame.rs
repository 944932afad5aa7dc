//! [`Frame`]: the surroundings of all pages, and parts that several pages share.

use catalogue_core::Timestamp;
use catalogue_core::admin::{CredentialRecord, CredentialState};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::owner::{Owner, SignOut};
use crate::settings::Inner;
use crate::times::{exact, time};

pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// The product's mark as an icon, so that browsers do not request one.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Cpath fill='%231f5fd6' d='M1 3h6l1 1 1-1h6v10H9l-1 1-1-1H1z'/%3E%3Cpath fill='%23fff' \
    d='M3 5h3v1H3zm0 2h3v1H3zm0 2h3v1H3zm7-4h3v1h-3zm0 2h3v1h-3zm0 2h3v1h-3z'/%3E%3C/svg%3E";

/// Path of the section *Activity*; that of *Keys* is empty.
pub(super) const ACTIVITY: &str = "/activity";

/// Surroundings of a page.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    pub(crate) inner: &'f Inner,
    pub(crate) owner: Option<&'f Owner>,
}

impl Frame<'_> {
    /// Returns a page with one column below its title, in the section *Keys*.
    pub(crate) fn page(self, title: &str, content: &Markup) -> Markup {
        let column = html! {
            div.column {
                @if self.owner.is_some() { (self.breadcrumb(title)) }
                h1 { (title) }
                (content)
            }
        };
        self.section("", title, &column)
    }

    /// Returns a page of the section with the path `section`. The content includes its heading.
    pub(super) fn section(self, section: &str, title: &str, content: &Markup) -> Markup {
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
                    (self.header(section))
                    main { (content) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }

    pub(super) fn breadcrumb(self, title: &str) -> Markup {
        html! {
            nav.breadcrumb aria-label="Breadcrumb" {
                a href=(self.inner.urls.page("")) { "Keys" }
                span aria-hidden="true" { "/" }
                bdi aria-current="page" { (title) }
            }
        }
    }

    fn header(self, section: &str) -> Markup {
        let (urls, (name, brand_url)) = (&self.inner.urls, &self.inner.brand);
        html! {
            header {
                a.brand href=(brand_url) {
                    svg viewBox="0 0 16 16" aria-hidden="true" {
                        path d="M1 3h6l1 1 1-1h6v10H9l-1 1-1-1H1z" {}
                        path d="M3 5h3v1H3zm0 2h3v1H3zm0 2h3v1H3zm7-4h3v1h-3zm0 2h3v1h-3zm0 2h3v1h-3z" {}
                    }
                    bdi { (name) }
                }
                nav aria-label="Sections" {
                    @if self.owner.is_some() {
                        @for (path, name) in [("", "Keys"), (ACTIVITY, "Activity")] {
                            a href=(urls.page(path)) aria-current=[(path == section).then_some("true")] { (name) }
                        }
                    }
                    a href=(urls.docs.as_str()) { "API reference" }
                }
                @if let Some(owner) = self.owner {
                    div.owner {
                        bdi { (owner.name_or_id()) }
                        @match &owner.sign_out {
                            SignOut::Elsewhere => {},
                            SignOut::Link(url) => { a href=(url) { "Sign out" } },
                            SignOut::Form => {
                                form method="post" action=(urls.page("/sign-out")) { button.link { "Sign out" } }
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

/// Returns a key's scopes as chips.
pub(crate) fn scopes(key: &CredentialRecord) -> Markup {
    html! { span.chips { @for scope in key.identity.scopes.iter() { span.scope { (scope) } " " } } }
}

/// Returns the state's name with a sign, unless the key is valid.
pub(crate) fn state(state: CredentialState) -> Markup {
    html! {
        @match state {
            CredentialState::Valid => {},
            CredentialState::Ending => { span.state.ending { span aria-hidden="true" { "◔" } " ending" } },
            _ => { span.state { span aria-hidden="true" { "✕" } " " (state.name()) } },
        }
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

/// Returns when a key was used last, in a sentence.
pub(crate) fn last_use(key: &CredentialRecord, now: Timestamp) -> Markup {
    match key.last_used_at {
        Some(at) => html! { "It was last used " (time(at, now)) " (" (exact(at)) ")." },
        None => html! { "It was never used. Uses appear within a minute." },
    }
}

/// Returns a time in words, or "never".
pub(crate) fn time_or_never(at: Option<Timestamp>, now: Timestamp) -> Markup {
    at.map_or_else(|| html! { "never" }, |at| time(at, now))
}

/// Returns the hint below a field, or its error instead.
pub(crate) fn hint(id: &str, hint: &str, error: Option<&str>) -> Markup {
    match error {
        Some(error) => html! { p.error id=(id) { span aria-hidden="true" { "✕ " } (error) } },
        None => html! { p.hint id=(id) { (hint) } },
    }
}

/// Returns a radio button, with a note next to its text.
pub(crate) fn radio(field: &str, value: &str, chosen: &str, text: &str, note: &Markup) -> Markup {
    html! {
        label.choice {
            input type="radio" name=(field) value=(value) checked[value == chosen];
            span { (text) " " span.hint { (note) } }
        }
    }
}

/// Returns the curl command of the API's documents. If no origin is configured, the script inserts that of the page.
pub(crate) fn curl(inner: &Inner) -> Markup {
    let (base, settings) = (&inner.urls.base, &inner.urls.settings);
    let origin = if base.origin().is_empty() { settings.origin() } else { base.origin() };
    html! {
        div.code {
            pre tabindex="0" {
                code {
                    "curl -H \"Authorization: Bearer $API_KEY\" \\\n  \""
                    @if origin.is_empty() { span data-origin { "$SERVER" } } @else { (origin) }
                    (base.path()) "/courses\""
                }
            }
            button type="button" aria-label="Copy the curl command" hidden data-copy { "Copy" }
        }
        @if origin.is_empty() {
            noscript { p.hint { "Replace $SERVER with this server's URL, such as https://api.example.com." } }
        }
    }
}
