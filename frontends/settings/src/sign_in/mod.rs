//! [`SignInSettings`]: developer settings with sign-in links and sessions of their own.

mod cookie;
mod link;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use catalogue_core::auth::{BearerToken, TokenDigest};
use catalogue_core::limit::{ClientAddress, RateLimitKey, RateLimiter};
use catalogue_core::storage::{CredentialAction, NewSession, Session, SignInStorage};
use catalogue_core::{AccountId, Timestamp};
use http::header::SET_COOKIE;
use http::{Request, Response, StatusCode, request};
use http_body::Body;

use self::cookie::Cookie;
pub use self::link::{DEFAULT_LINK_LIFETIME, LINK_PREFIX, MAX_LINK_LIFETIME, SignInLink};
use self::link::{digest_of, secret};
use crate::answer::{html, see_other};
use crate::builder::per_minute;
use crate::failure::Failure;
use crate::form::Form;
use crate::owner::{Door, Owner, SignOut};
use crate::pages::{Frame, sign_in as page};
use crate::route::{self, Action};
use crate::settings::{DeveloperSettings, Inner, take};

/// How long a session lasts.
const SESSION: Duration = Duration::from_secs(12 * 60 * 60);

/// How many attempts to sign in a client has a minute; a cookie of no session is one too.
const ATTEMPTS: u32 = 20;

/// Developer settings that find their owner by a session of their own: for a program without users.
///
/// A client's attempts are counted by the [`ClientAddress`] among the request's extensions; without one they are not.
#[derive(Clone, Debug)]
pub struct SignInSettings {
    settings: DeveloperSettings,
    sign_in: SignIn,
}

/// What signing in needs.
#[derive(Clone)]
pub(crate) struct SignIn {
    storage: Arc<dyn SignInStorage>,
    /// Whether the cookie is sent over TLS only.
    is_secure: bool,
    attempts: Arc<dyn RateLimiter>,
}

impl DeveloperSettings {
    /// The same settings, with sign-in links and sessions in `storage`.
    ///
    /// The cookie is sent over TLS alone, unless the settings' address begins with `http://`; where it is a path, see
    /// [`without_tls`](SignInSettings::without_tls).
    #[must_use]
    pub fn with_sign_in(&self, storage: impl SignInStorage) -> SignInSettings {
        let is_secure = !self.0.addresses.settings.origin().starts_with("http://");
        let sign_in = SignIn { storage: Arc::new(storage), is_secure, attempts: per_minute(ATTEMPTS) };
        SignInSettings { settings: self.clone(), sign_in }
    }
}

impl SignInSettings {
    /// Says that the settings, whose address is a path alone, are served on this machine without TLS.
    #[must_use]
    pub fn without_tls(mut self) -> Self {
        self.sign_in.is_secure = false;
        self
    }

    /// Counts attempts to sign in, and unknown session cookies, by client address. Default 20 a minute, in this process.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.sign_in.attempts = Arc::new(limiter);
        self
    }

    /// Answers a request of anybody. It always gets an answer.
    ///
    /// Of its body, which must be unread, at most 16 KiB are read.
    pub async fn call<B: Body>(&self, request: Request<B>) -> Response<Bytes> {
        self.settings.0.call(Door::SignIn(&self.sign_in), request).await
    }
}

impl SignIn {
    fn cookie(&self, inner: &Inner, head: &request::Parts) -> Cookie {
        Cookie::new(head, &inner.addresses.settings, self.is_secure)
    }

    /// Whose session a request carries.
    pub(crate) async fn owner(&self, inner: &Inner, head: &request::Parts, now: Timestamp) -> Result<Owner, Failure> {
        let cookie = self.cookie(inner, head);
        let Some(secret) = cookie.find(&head.headers) else { return Err(Failure::SignedOut("missing", None)) };
        match self.find(&secret, head).await? {
            Some((_, session)) if !session.is_over(now) => {
                let mut owner = Owner::new(session.account.id).named(session.account.name);
                owner.sign_out = SignOut::Form;
                Ok(owner)
            }
            Some(_) => Err(Failure::SignedOut("expired", Some(cookie.take_back()))),
            None => Err(Failure::SignedOut("revoked", None)),
        }
    }

    /// Finds a session by its secret. A secret of none counts as an attempt of the client; beyond its attempts the storage is
    /// not asked.
    async fn find(&self, secret: &str, head: &request::Parts) -> Result<Option<(TokenDigest, Session)>, Failure> {
        let Some(digest) = BearerToken::new(secret).map(|secret| secret.digest()) else { return Ok(None) };
        let taken = self.take_attempt(head).await?;
        let found = self.storage.find_session(&digest).await;
        if let Some((key, window)) = taken.filter(|_| !matches!(found, Ok(None))) {
            self.attempts.give_back(key, window).await;
        }
        Ok(found?.map(|session| (digest, session)))
    }

    /// Takes one of the client's attempts. Returns what to give back, if it could be counted.
    async fn take_attempt(&self, head: &request::Parts) -> Result<Option<(RateLimitKey<'static>, u64)>, Failure> {
        let Some(client) = head.extensions.get::<ClientAddress>() else { return Ok(None) };
        let key = RateLimitKey::SignIn(client.counted());
        Ok(take(&*self.attempts, key).await?.map(|window| (key, window)))
    }

    /// Ends the session that came with a request, as far as `limiter` has room for a change. Returns whether there was one;
    /// any other secret costs a look-up and no write, since anybody can send it.
    async fn end(
        &self,
        cookie: &Cookie,
        head: &request::Parts,
        now: Timestamp,
        limiter: Option<&dyn RateLimiter>,
    ) -> Result<bool, Failure> {
        let Some(secret) = cookie.find(&head.headers) else { return Ok(false) };
        let Some((digest, session)) = self.find(&secret, head).await? else { return Ok(false) };
        if !session.is_over(now) {
            let account = &session.account.id;
            if let Some(limiter) = limiter {
                take(limiter, RateLimitKey::Change(account)).await?;
            }
            self.storage.end_session(&digest).await?;
            audit(account, CredentialAction::SignedOut);
        }
        Ok(true)
    }

    /// Answers what needs no owner.
    pub(crate) async fn answer(
        &self,
        inner: &Inner,
        head: &request::Parts,
        form: &Form,
        action: Action,
        seen: &mut Option<Owner>,
    ) -> Result<Response<Bytes>, Failure> {
        let frame = Frame { inner, owner: None };
        match action {
            Action::SignIn => self.sign_in(inner, head, form, seen).await,
            Action::SignOut => self.sign_out(inner, head).await,
            _ => {
                let why = ["expired", "revoked"].into_iter().find(|why| *why == form.shown("why"));
                let why = why.map(|why| Failure::SignedOut(why, None));
                Ok(html(StatusCode::OK, page::page(frame, next(inner, form), why.as_ref())))
            }
        }
    }

    async fn sign_in(
        &self,
        inner: &Inner,
        head: &request::Parts,
        form: &Form,
        seen: &mut Option<Owner>,
    ) -> Result<Response<Bytes>, Failure> {
        self.take_attempt(head).await?;
        let now = (inner.clock)();
        let next = next(inner, form);
        let (secret, session) = new_session(now);
        // Some paste the whole link.
        let code = form.one("code")?.rsplit('#').next().unwrap_or_default();
        let account = match link::digest(code.trim()) {
            Some(link) => self.storage.exchange_link(&link, now, &session).await?,
            None => None,
        };
        let Some(account) = account else {
            let page = page::page(Frame { inner, owner: None }, next, Some(&Failure::Code));
            return Ok(html(StatusCode::UNAUTHORIZED, page));
        };
        audit(&account.id, CredentialAction::SignedIn);
        *seen = Some(Owner::new(account.id));
        // Who had a session before has this one now; a secret that somebody else has put there is worth nothing.
        let cookie = self.cookie(inner, head);
        if let Err(failure) = self.end(&cookie, head, now, None).await {
            failure.log("");
        }
        let mut response = see_other(next.unwrap_or(&inner.addresses.page("")));
        response.headers_mut().insert(SET_COOKIE, cookie.set(&secret, SESSION));
        Ok(response)
    }

    async fn sign_out(&self, inner: &Inner, head: &request::Parts) -> Result<Response<Bytes>, Failure> {
        let cookie = self.cookie(inner, head);
        let is_ours = self.end(&cookie, head, (inner.clock)(), Some(&*inner.changes)).await?;
        let mut response = see_other(&inner.addresses.page("/sign-in"));
        if is_ours {
            response.headers_mut().insert(SET_COOKIE, cookie.take_back());
        }
        Ok(response)
    }
}

/// The page that was asked for before, if it is one of ours.
fn next<'f>(inner: &Inner, form: &'f Form) -> Option<&'f str> {
    let next = form.shown("next");
    route::is_page(&inner.addresses.settings, next).then_some(next)
}

/// A session's secret and what is kept of it.
///
/// # Panics
/// When the system has no randomness to give.
fn new_session(now: Timestamp) -> (String, NewSession) {
    let secret = secret();
    let expires_at = now.checked_add(SESSION).unwrap_or(Timestamp::MAX);
    let session = NewSession { digest: digest_of(&secret), created_at: now, expires_at };
    (secret, session)
}

fn audit(account: &AccountId, action: CredentialAction) {
    let (account, action) = (account.as_str(), action.name());
    tracing::info!(target: "catalogue::audit", account, actor = "owner", action, "a session began or ended");
}

/// What it holds is not for logs.
impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("is_secure", &self.is_secure).finish_non_exhaustive()
    }
}
