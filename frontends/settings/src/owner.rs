//! [`Owner`]: the account whose keys a request is about, and its user.

use bytes::Bytes;
use catalogue_core::AccountId;
use catalogue_core::storage::Actor;
use http::{Request, Response};
use http_body::Body;

use crate::settings::DeveloperSettings;
use crate::sign_in::SignIn;

/// Maximum length of an actor's name that is stored, in bytes.
const MAX_ACTOR: usize = 200;

/// Owner of an account, as authenticated by the host application. Grants access to all of the account's keys and nothing else.
#[derive(Clone, Debug)]
pub struct Owner {
    pub(crate) account: AccountId,
    pub(crate) actor: Actor,
    pub(crate) name: Option<String>,
    pub(crate) sign_out: SignOut,
    /// Whether requests must check that the account exists.
    pub(crate) is_unverified: bool,
}

/// How the owner of a request is determined.
#[derive(Clone, Copy)]
pub(crate) enum OwnerSource<'d> {
    /// The host application knows the owner.
    Host(&'d Owner),
    /// By a built-in session.
    SignIn(&'d SignIn),
    /// The host application has found that the user owns no account.
    Missing,
}

/// How the owner signs out.
#[derive(Clone, Debug)]
pub(crate) enum SignOut {
    /// Not on these pages.
    Elsewhere,
    /// By a link of the host application.
    Link(String),
    /// By the built-in form.
    Form,
}

impl Owner {
    /// Creates the owner of `account`.
    #[must_use]
    pub fn new(account: AccountId) -> Self {
        Self { account, actor: Actor::OWNER, name: None, sign_out: SignOut::Elsewhere, is_unverified: false }
    }

    /// Creates the owner of `account` as claimed by another program, such as a proxy. If the account does not exist, each
    /// response is a 403, like that of [`DeveloperSettings::refuse`]; with [`new`](Self::new), its list of keys is a 404.
    #[must_use]
    pub fn unverified(account: AccountId) -> Self {
        Self { is_unverified: true, ..Self::new(account) }
    }

    /// Sets which of several people acts, such as `user_17`, for the log of changes. Only the first 200 bytes are stored; an
    /// empty text changes nothing.
    #[must_use]
    pub fn acting_as(mut self, user: impl AsRef<str>) -> Self {
        let user = user.as_ref();
        if !user.is_empty() {
            let end = (0..=MAX_ACTOR.min(user.len())).rev().find(|at| user.is_char_boundary(*at)).unwrap_or_default();
            self.actor = Actor::owner_named(&user[..end]);
        }
        self
    }

    /// Sets the name that the pages show for the owner. Default: the account's id.
    #[must_use]
    pub fn display_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Sets the target of the pages' link *Sign out*, such as `/logout`. Default: no link.
    #[must_use]
    pub fn sign_out_url(mut self, url: impl Into<String>) -> Self {
        self.sign_out = SignOut::Link(url.into());
        self
    }

    pub(crate) fn name_or_id(&self) -> &str {
        self.name.as_deref().unwrap_or(self.account.as_str())
    }
}

impl DeveloperSettings {
    /// Responds with 403 to a user who owns no account, as the host application has found out; failures are responses too.
    pub async fn refuse<B: Body>(&self, request: Request<B>) -> Response<Bytes> {
        self.0.call(OwnerSource::Missing, request).await
    }
}
