//! [`SignInSettings`]: developer settings with sign-in links and built-in sessions.

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
use crate::builder::per_minute;
use crate::failure::Failure;
use crate::form::Form;
use crate::owner::{Owner, OwnerSource, SignOut};
use crate::pages::{Frame, sign_in as page};
use crate::response::{html, see_other};
use crate::route::{self, Action};
use crate::settings::{DeveloperSettings, Inner, acquire};

/// Lifetime of a session.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Reason for the sign-in page after a sign-out.
pub(crate) const SIGNED_OUT: &str = "signed_out";

/// Maximum number of sign-in attempts per client and minute; an unknown session cookie counts as one.
const ATTEMPTS_PER_MINUTE: u32 = 20;

/// Developer settings with built-in sign-in, for programs without user accounts.
///
/// Limits sign-in attempts by the [`ClientAddress`] among the request's extensions. Requests without it have no limit.
#[derive(Clone, Debug)]
pub struct SignInSettings {
    settings: DeveloperSettings,
    sign_in: SignIn,
}

/// State of the built-in sign-in.
#[derive(Clone)]
pub(crate) struct SignIn {
    storage: Arc<dyn SignInStorage>,
    /// Whether the cookie is sent over TLS only.
    is_secure: bool,
    attempts: Arc<dyn RateLimiter>,
}

impl DeveloperSettings {
    /// Returns the same settings with sign-in links and sessions in `storage`.
    ///
    /// The cookie is sent only over TLS, unless the settings' URL begins with `http://`. If the URL is only a path, see
    /// [`without_tls`](SignInSettings::without_tls).
    #[must_use]
    pub fn with_sign_in(&self, storage: impl SignInStorage) -> SignInSettings {
        let is_secure = !self.0.urls.settings.origin().starts_with("http://");
        let sign_in = SignIn { storage: Arc::new(storage), is_secure, attempts: per_minute(ATTEMPTS_PER_MINUTE) };
        SignInSettings { settings: self.clone(), sign_in }
    }
}

impl SignInSettings {
    /// Declares that the settings, whose URL is only a path, are served on this machine without TLS.
    #[must_use]
    pub fn without_tls(mut self) -> Self {
        self.sign_in.is_secure = false;
        self
    }

    /// Sets the rate limiter of sign-in attempts and unknown session cookies by client address. Default: 20 a minute, per
    /// process.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.sign_in.attempts = Arc::new(limiter);
        self
    }

    /// Responds to a request of any client; failures are responses too.
    ///
    /// Reads at most 16 KiB of the body, which must be unread.
    pub async fn call<B: Body>(&self, request: Request<B>) -> Response<Bytes> {
        self.settings.0.call(OwnerSource::SignIn(&self.sign_in), request).await
    }
}

impl SignIn {
    fn cookie(&self, inner: &Inner, head: &request::Parts) -> Cookie {
        Cookie::new(head, &inner.urls.settings, self.is_secure)
    }

    /// Returns the owner of the session that a request carries.
    pub(crate) async fn owner(&self, inner: &Inner, head: &request::Parts, now: Timestamp) -> Result<Owner, Failure> {
        let cookie = self.cookie(inner, head);
        let Some(secret) = cookie.find(&head.headers) else { return Err(Failure::SignedOut("missing", None)) };
        match self.find(&secret, head).await? {
            Some((_, session)) if !session.is_expired(now) => {
                let mut owner = Owner::new(session.account.id).display_name(session.account.name);
                owner.sign_out = SignOut::Form;
                Ok(owner)
            }
            Some(_) => Err(Failure::SignedOut("expired", Some(cookie.clear()))),
            None => Err(Failure::SignedOut("revoked", None)),
        }
    }

    /// Finds a session by its secret. An unknown secret counts as an attempt of the client; a client without attempts left does
    /// not reach the storage.
    async fn find(&self, secret: &str, head: &request::Parts) -> Result<Option<(TokenDigest, Session)>, Failure> {
        let Some(digest) = BearerToken::new(secret).map(|secret| secret.digest()) else { return Ok(None) };
        let acquired = self.acquire_attempt(head).await?;
        let found = self.storage.find_session(&digest).await;
        if let Some((key, window)) = acquired.filter(|_| !matches!(found, Ok(None))) {
            self.attempts.refund(key, window).await;
        }
        Ok(found?.map(|session| (digest, session)))
    }

    /// Takes one of the client's attempts. Returns what to refund, if it was counted.
    async fn acquire_attempt(&self, head: &request::Parts) -> Result<Option<(RateLimitKey<'static>, u64)>, Failure> {
        let Some(client) = head.extensions.get::<ClientAddress>() else { return Ok(None) };
        let key = RateLimitKey::SignIn(client.rate_limit_address());
        Ok(acquire(&*self.attempts, key).await?.map(|window| (key, window)))
    }

    /// Ends the session of a request, if `limiter` allows a change. Returns whether the request had a session. An unknown
    /// secret costs a lookup but no write, since anyone can send one.
    async fn end(
        &self,
        cookie: &Cookie,
        head: &request::Parts,
        now: Timestamp,
        limiter: Option<&dyn RateLimiter>,
    ) -> Result<bool, Failure> {
        let Some(secret) = cookie.find(&head.headers) else { return Ok(false) };
        let Some((digest, session)) = self.find(&secret, head).await? else { return Ok(false) };
        if !session.is_expired(now) {
            let account = &session.account.id;
            if let Some(limiter) = limiter {
                acquire(limiter, RateLimitKey::Change(account)).await?;
            }
            self.storage.end_session(&digest).await?;
            audit(account, CredentialAction::SignedOut);
        }
        Ok(true)
    }

    /// Responds to requests that need no owner.
    pub(crate) async fn respond(
        &self,
        inner: &Inner,
        head: &request::Parts,
        form: &Form,
        action: Action,
        identified: &mut Option<Owner>,
    ) -> Result<Response<Bytes>, Failure> {
        let frame = Frame { inner, owner: None };
        match action {
            Action::SignIn => self.sign_in(inner, head, form, identified).await,
            Action::SignOut => self.sign_out(inner, head).await,
            _ => {
                let why = ["expired", "revoked", SIGNED_OUT].into_iter().find(|why| *why == form.first_or_empty("why"));
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
        identified: &mut Option<Owner>,
    ) -> Result<Response<Bytes>, Failure> {
        self.acquire_attempt(head).await?;
        let now = (inner.clock)();
        let next = next(inner, form);
        let (secret, session) = new_session(now);
        // Some people paste the whole link.
        let code = form.one("code")?.rsplit('#').next().unwrap_or_default();
        let account = match link::code_digest(code.trim()) {
            Some(link) => self.storage.exchange_link(&link, now, &session).await?,
            None => None,
        };
        let Some(account) = account else {
            let page = page::page(Frame { inner, owner: None }, next, Some(&Failure::Code));
            return Ok(html(StatusCode::UNAUTHORIZED, page));
        };
        audit(&account.id, CredentialAction::SignedIn);
        *identified = Some(Owner::new(account.id));
        // Ends any earlier session, so that a session cookie planted by another person is useless.
        let cookie = self.cookie(inner, head);
        if let Err(failure) = self.end(&cookie, head, now, None).await {
            failure.log("");
        }
        let mut response = see_other(next.unwrap_or(&inner.urls.page("")));
        response.headers_mut().insert(SET_COOKIE, cookie.set(&secret, SESSION_LIFETIME));
        Ok(response)
    }

    async fn sign_out(&self, inner: &Inner, head: &request::Parts) -> Result<Response<Bytes>, Failure> {
        let cookie = self.cookie(inner, head);
        let had_session = self.end(&cookie, head, (inner.clock)(), Some(&*inner.changes)).await?;
        let mut response = see_other(&format!("{}?why={SIGNED_OUT}", inner.urls.page("/sign-in")));
        if had_session {
            response.headers_mut().insert(SET_COOKIE, cookie.clear());
        }
        Ok(response)
    }
}

/// Returns the page that was requested before signing in, if it is one of the settings.
fn next<'f>(inner: &Inner, form: &'f Form) -> Option<&'f str> {
    let next = form.first_or_empty("next");
    route::is_page(&inner.urls.settings, next).then_some(next)
}

/// Returns the secret of a new session, and the record to store.
///
/// # Panics
/// Panics if the system has no source of randomness.
fn new_session(now: Timestamp) -> (String, NewSession) {
    let secret = secret();
    let expires_at = now.checked_add(SESSION_LIFETIME).unwrap_or(Timestamp::MAX);
    let session = NewSession { digest: digest_of(&secret), created_at: now, expires_at };
    (secret, session)
}

fn audit(account: &AccountId, action: CredentialAction) {
    let (account, action) = (account.as_str(), action.name());
    tracing::info!(target: "catalogue::audit", account, actor = "owner", action, "a session began or ended");
}

/// Omits the storage and the limiter, which are not for logs.
impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("is_secure", &self.is_secure).finish_non_exhaustive()
    }
}
