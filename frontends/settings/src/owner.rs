//! [`Owner`]: whose keys a request is about, and who asks.

use bytes::Bytes;
use catalogue_core::AccountId;
use catalogue_core::storage::Actor;
use http::{Request, Response};
use http_body::Body;

use crate::settings::DeveloperSettings;
use crate::sign_in::SignIn;

/// How many bytes of an actor's name are kept.
const MAX_ACTOR: usize = 200;

/// The owner of an account, as the host has found out by its own session. It grants all of that account's keys, and
/// nothing else.
#[derive(Clone, Debug)]
pub struct Owner {
    pub(crate) account: AccountId,
    pub(crate) actor: Actor,
    pub(crate) name: Option<String>,
    pub(crate) sign_out: SignOut,
}

/// How a request finds its owner.
#[derive(Clone, Copy)]
pub(crate) enum Door<'d> {
    /// The host knows.
    Known(&'d Owner),
    /// By a session of ours.
    SignIn(&'d SignIn),
    /// The host knows that there is none.
    Nobody,
}

/// How the owner signs out.
#[derive(Clone, Debug)]
pub(crate) enum SignOut {
    /// Not on these pages.
    Elsewhere,
    /// By a link of the host.
    Link(String),
    /// By a form of ours.
    Form,
}

impl Owner {
    /// The owner of `account`.
    #[must_use]
    pub fn new(account: AccountId) -> Self {
        Self { account, actor: Actor::OWNER, name: None, sign_out: SignOut::Elsewhere }
    }

    /// Which of several people it is, such as `user_17`, for the log of changes. Of a longer text the first 200 bytes are
    /// kept; an empty one changes nothing.
    #[must_use]
    pub fn acting_as(mut self, user: impl AsRef<str>) -> Self {
        let user = user.as_ref();
        if !user.is_empty() {
            let end = (0..=MAX_ACTOR.min(user.len())).rev().find(|at| user.is_char_boundary(*at)).unwrap_or_default();
            self.actor = Actor::owner_named(&user[..end]);
        }
        self
    }

    /// What the pages call the owner; by default the account's id.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Where the pages' link *Sign out* leads to, such as `/logout`. By default there is none.
    #[must_use]
    pub fn sign_out_at(mut self, url: impl Into<String>) -> Self {
        self.sign_out = SignOut::Link(url.into());
        self
    }

    pub(crate) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.account.as_str())
    }
}

impl DeveloperSettings {
    /// Answers 403 to a request of somebody who owns no account, as the host has found out. It always gets an answer.
    pub async fn refuse<B: Body>(&self, request: Request<B>) -> Response<Bytes> {
        self.0.call(Door::Nobody, request).await
    }
}
