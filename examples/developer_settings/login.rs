//! Users and sessions of the host application. The developer settings do not depend on them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{FromRef, FromRequestParts};
use axum::http::header::COOKIE;
use axum::http::request::Parts;
use axum::response::Redirect;
use catalogue_core::AccountId;
use catalogue_core::auth::{BearerToken, CredentialKind, NewToken, TokenDigest};
use catalogue_settings::Owner;

use crate::data::ACCOUNT;

/// Logged-in users, by the digest of the session's secret. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logins(Arc<RwLock<HashMap<TokenDigest, String>>>);

impl Logins {
    /// Begins a session of a user. A real application would require more than a name.
    pub(crate) fn begin(&self, user: &str) -> NewToken {
        let secret = NewToken::mint(CredentialKind::OAuth);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(secret.digest(), user.to_owned());
        secret
    }

    /// Ends the session of a request, if it has one.
    pub(crate) fn end(&self, head: &Parts) {
        if let Some(secret) = secret(head) {
            self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&secret.digest());
        }
    }

    fn user(&self, head: &Parts) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&secret(head)?.digest()).cloned()
    }
}

fn secret(head: &Parts) -> Option<BearerToken<'_>> {
    let fields = head.headers.get_all(COOKIE).iter().filter_map(|field| field.to_str().ok());
    let secret = fields.flat_map(|field| field.split("; ")).find_map(|cookie| cookie.strip_prefix("session="))?;
    BearerToken::new(secret)
}

/// Head of a request, for routes that do not need the body.
pub(crate) struct Head(pub(crate) Parts);

impl<S: Sync> FromRequestParts<S> for Head {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.clone()))
    }
}

/// The logged-in user. Other visitors are redirected to the login.
pub(crate) struct User(pub(crate) String);

impl User {
    /// Returns the owner: all users share one account, and the log of changes records which of them acted.
    pub(crate) fn owner(&self) -> Owner {
        Owner::new(AccountId::new(ACCOUNT))
            .acting_as(&self.0)
            .display_name(format!("Demo school, {}", self.0))
            .sign_out_url("/logout")
    }
}

impl<S: Sync> FromRequestParts<S> for User
where
    Logins: FromRef<S>,
{
    type Rejection = Redirect;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Redirect> {
        Logins::from_ref(state).user(parts).map(Self).ok_or_else(|| Redirect::to("/"))
    }
}
