//! Calls to the session storage, and pages after its failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use catalogue_core::admin::Account;
use catalogue_core::auth::TokenDigest;
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use catalogue_core::storage::{
    Actor, MemoryStorage, NewSession, NewSignIn, Session, SignInStorage, StorageError, StorageErrorKind,
};
use catalogue_core::{AccountId, Timestamp, async_trait};

use crate::app::{App, form};
use crate::sign_in::{COOKIE_NAME, Site, with_cookie};

/// A session storage that counts lookups of sessions and links, and ends of sessions. The method named in `fails_at` fails.
#[derive(Clone, Debug)]
pub(crate) struct CountingStorage {
    storage: MemoryStorage,
    lookups: Arc<AtomicUsize>,
    ends: Arc<AtomicUsize>,
    fails_at: &'static str,
}

impl CountingStorage {
    pub(crate) async fn site(fails_at: &'static str) -> (Site, Self) {
        let site = Site::new().await;
        let counting = Self { storage: site.storage.clone(), lookups: Arc::default(), ends: Arc::default(), fails_at };
        let app = App::over(site.storage.clone(), site.storage.clone(), |builder| builder);
        (
            Site { settings: app.settings.with_sign_in(counting.clone()), storage: site.storage, clock: app.clock },
            counting,
        )
    }

    pub(crate) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }

    fn ends(&self) -> usize {
        self.ends.load(Ordering::Relaxed)
    }

    fn check(&self, call: &str) -> Result<(), StorageError> {
        let error = || StorageError::new(StorageErrorKind::Other, "the disk at /var/secret is full");
        if self.fails_at == call { Err(error()) } else { Ok(()) }
    }
}

#[async_trait]
impl SignInStorage for CountingStorage {
    async fn create_link(&self, link: &NewSignIn, by: &Actor) -> Result<(), StorageError> {
        self.storage.create_link(link, by).await
    }

    async fn exchange_link(
        &self,
        link: &TokenDigest,
        now: Timestamp,
        session: &NewSession,
    ) -> Result<Option<Account>, StorageError> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        self.check("exchange_link")?;
        self.storage.exchange_link(link, now, session).await
    }

    async fn find_session(&self, digest: &TokenDigest) -> Result<Option<Session>, StorageError> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        self.check("find_session")?;
        self.storage.find_session(digest).await
    }

    async fn end_session(&self, digest: &TokenDigest) -> Result<(), StorageError> {
        self.ends.fetch_add(1, Ordering::Relaxed);
        self.check("end_session")?;
        self.storage.end_session(digest).await
    }

    async fn end_sign_ins(&self, account: &AccountId, by: &Actor) -> Result<u64, StorageError> {
        self.storage.end_sign_ins(account, by).await
    }
}

/// Ending a session is a write, which costs more than the lookup that any client can cause.
#[tokio::test]
async fn invalid_session_costs_no_write() {
    let (site, counting) = CountingStorage::site("").await;
    let session = site.sign_in("anna").await;
    let expired = site.sign_in("bert").await;
    let invented = [format!("{COOKIE_NAME}=a"), format!("{COOKIE_NAME}={}", "a".repeat(43)), "a=b".to_owned()];
    for cookie in &invented {
        let out = site.call(with_cookie(form("/settings/sign-out", &[]), cookie)).await;
        assert_eq!((out.status, out.header("location")), (303, Some("/settings/sign-in")));
        let code = site.code("anna").await;
        assert_eq!(site.call(with_cookie(form("/settings/sign-in", &[("code", &code)]), cookie)).await.status, 303);
    }
    assert_eq!(counting.ends(), 0);
    site.call(with_cookie(form("/settings/sign-out", &[]), &session)).await;
    assert_eq!(counting.ends(), 1);
    site.clock.advance(12 * 60 * 60);
    site.call(with_cookie(form("/settings/sign-out", &[]), &expired)).await;
    assert_eq!(counting.ends(), 1);
}

#[tokio::test]
async fn sign_outs_count_as_changes_of_account() {
    let site = Site::new().await;
    let limiter = LocalRateLimiter::new(RateLimit::new(1, Duration::from_secs(60)).unwrap());
    let app = App::over(site.storage.clone(), site.storage.clone(), |builder| builder.rate_limiter(limiter));
    let site =
        Site { settings: app.settings.with_sign_in(site.storage.clone()), storage: site.storage, clock: app.clock };
    let sessions = [site.sign_in("anna").await, site.sign_in("anna").await, site.sign_in("bert").await];
    for (session, status) in sessions.iter().zip([303, 429, 303]) {
        let out = site.call(with_cookie(form("/settings/sign-out", &[]), session)).await;
        assert_eq!((out.status, out.header("set-cookie").is_some()), (status, status == 303));
    }
}

#[tokio::test]
async fn storage_failure_is_not_reported_as_success() {
    for (fails_at, sign_in, page, sign_out) in [
        ("exchange_link", 500, 200, 303),
        ("find_session", 303, 500, 500),
        // The client gets the new session even if its old one cannot be ended.
        ("end_session", 303, 200, 500),
    ] {
        let (site, _) = CountingStorage::site(fails_at).await;
        let working = working_site(&site);
        let session = working.sign_in("anna").await;
        let code = site.code("anna").await;
        let mut responses = vec![site.call(with_cookie(form("/settings/sign-in", &[("code", &code)]), &session)).await];
        let session = working.sign_in("anna").await;
        responses.push(site.get("/settings", &session).await);
        responses.push(site.call(with_cookie(form("/settings/sign-out", &[]), &session)).await);
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses, [sign_in, page, sign_out], "{fails_at}");
        for response in responses.iter().filter(|response| response.status == 500) {
            assert_eq!(response.header("set-cookie"), None);
            response.shows("Internal server error. Nothing has changed.");
            response.hides("/var/secret");
        }
        let after = working.get("/settings", &session).await.status;
        assert_eq!(after, if sign_out == 500 { 200 } else { 303 }, "{fails_at}");
    }
}

/// Returns a site with the same sessions, over a storage that does not fail.
fn working_site(site: &Site) -> Site {
    let app = App::over(site.storage.clone(), site.storage.clone(), |builder| builder);
    let settings = app.settings.with_sign_in(site.storage.clone());
    Site { settings, storage: site.storage.clone(), clock: site.clock.clone() }
}
