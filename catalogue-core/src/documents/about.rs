//! [`About`]: facts about the API for its documents, and [`Site`]: these facts with the URLs.

use serde_json::{Value, json};

use super::TITLE;
use super::links::destination;
use crate::build_error::BuildError;
use crate::mount_url::{MountUrl, has_invalid_escape, parse_http_url};

/// Facts about the API, set by the host application. Texts omit unset facts; only the title has a default.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) title: Option<String>,
    /// Contact for questions: the URL of a page, or a mailbox.
    pub(crate) contact: Option<String>,
    pub(crate) keys_url: Option<String>,
    pub(crate) settings_url: Option<String>,
    /// Authorization servers that issue tokens to clients.
    pub(crate) authorization_servers: Vec<String>,
    /// One sentence on each issuer of signed tokens.
    issuers: Vec<String>,
}

impl About {
    /// Checks the host application's settings.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        refuse_unless(is_title, &self.title, BuildError::DocsTitle)?;
        refuse_unless(|text| is_page(text) || is_mailbox(text), &self.contact, BuildError::DocsContact)?;
        let is_path = |text: &str| text.starts_with('/') && !text.starts_with("//") && needs_no_escaping(text);
        refuse_unless(|text| is_path(text) || is_page(text), &self.keys_url, BuildError::DocsKeysUrl)?;
        refuse_unless(is_page, &self.authorization_servers, BuildError::AuthorizationServer)?;
        self.settings_url
            .as_deref()
            .map_or(Ok(()), |url| MountUrl::parse(url).map(drop))
            .map_err(BuildError::SettingsUrl)
    }

    /// Adds a sentence on each issuer of signed tokens and its audience. Skips pairs with a backtick or a control character.
    pub(crate) fn with_issuers<'i>(self, issuers: impl Iterator<Item = (&'i str, &'i str)>) -> Self {
        let fits_code_span = |text: &str| !text.contains(|c: char| c == '`' || c.is_control());
        let printable = issuers.filter(|(issuer, audience)| fits_code_span(issuer) && fits_code_span(audience));
        let sentence =
            |(issuer, audience)| format!("Access tokens are signed by `{issuer}` for the audience `{audience}`.");
        Self { issuers: printable.map(sentence).collect(), ..self }
    }
}

/// Input for documents: the URLs of the API and its documents, and facts about the API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) base: &'a MountUrl,
    pub(crate) docs: &'a MountUrl,
    pub(crate) about: &'a About,
}

impl<'a> Site<'a> {
    pub(crate) fn title(self) -> &'a str {
        self.about.title.as_deref().unwrap_or(TITLE)
    }

    /// Returns the sentences on issuers of signed tokens, each after a space; empty if there are none.
    pub(crate) fn issuers(self) -> String {
        self.about.issuers.iter().flat_map(|sentence| [" ", sentence]).collect()
    }

    /// Returns whether only the path of the API is known, and not its scheme and host.
    pub(crate) fn has_relative_base(self) -> bool {
        self.base.origin().is_empty()
    }

    /// Returns the URL of the page on which account owners create keys.
    pub(crate) fn keys_url(self) -> Option<&'a str> {
        self.about.keys_url.as_deref().or(self.about.settings_url.as_deref())
    }

    /// Returns a sentence on how to get API keys.
    pub(crate) fn keys(self) -> String {
        match self.keys_url().map(destination) {
            Some(url) => {
                format!("Account owners create API keys in the [developer settings]({url}) and choose their scopes.")
            }
            None => "An API key belongs to an account and has scopes. Ask the operator of this API for one.".to_owned(),
        }
    }

    /// Returns the URL of the contact.
    pub(crate) fn contact_url(self) -> Option<String> {
        let contact = self.about.contact.as_ref()?;
        Some(format!("{}{contact}", if is_mailbox(contact) { "mailto:" } else { "" }))
    }

    pub(crate) fn questions(self) -> Option<String> {
        Some(format!("Questions go to [{}]({}).", self.about.contact.as_ref()?, self.contact_url()?))
    }

    pub(crate) fn contact(self) -> Option<Value> {
        let contact = self.about.contact.as_ref()?;
        let kind = if is_mailbox(contact) { "email" } else { "url" };
        Some(json!({ "name": self.title(), kind: contact }))
    }
}

/// Returns `error` for the first text that is not valid.
fn refuse_unless<'t>(
    is_valid: impl Fn(&str) -> bool,
    texts: impl IntoIterator<Item = &'t String>,
    error: fn(String) -> BuildError,
) -> Result<(), BuildError> {
    texts.into_iter().find(|text| !is_valid(text)).map_or(Ok(()), |text| Err(error(text.clone())))
}

/// Returns whether `text` can be a title: visible text without control characters and marks of code, links or HTML.
fn is_title(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(|c: char| c.is_control() || "`[]<>\\".contains(c))
}

/// Returns whether `text` has only characters that need no escaping in a URL of any document.
fn needs_no_escaping(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
        && !text.contains(['(', ')', '<', '>', '"', '`', '\\', '{', '}', '[', ']'])
        && !has_invalid_escape(text)
}

fn is_page(text: &str) -> bool {
    needs_no_escaping(text) && text.split('#').next().is_some_and(|page| parse_http_url(page).is_ok())
}

fn is_mailbox(text: &str) -> bool {
    let parts = text.split_once('@').filter(|(name, host)| !name.is_empty() && !host.contains('@'));
    needs_no_escaping(text)
        && !text.contains([':', '/', '?', '#', '&', '%', ',', ';'])
        && parts.is_some_and(|(_, host)| !host.is_empty())
}
