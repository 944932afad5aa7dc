//! [`SettingsBuilder`]: builds the developer settings.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::limit::{LocalRateLimiter, RateLimit, RateLimiter};
use catalogue_core::storage::{CredentialStorage, KeyStorage};
use catalogue_core::{RequestIds, Timestamp};

use crate::error::SettingsError;
use crate::pages::{SCRIPT, STYLE};
use crate::security;
use crate::settings::{DeveloperSettings, Inner, Storage};
use crate::urls::SettingsUrls;

/// Maximum number of changes per account and minute.
const CHANGES_PER_MINUTE: u32 = 30;

/// Builder of [`DeveloperSettings`].
#[must_use = "a builder does nothing before `build`"]
pub struct SettingsBuilder {
    storage: Arc<dyn Storage>,
    settings_url: String,
    base_url: String,
    docs_url: String,
    brand: Option<(String, String)>,
    cross_origin_tryout: bool,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    changes: Arc<dyn RateLimiter>,
}

impl DeveloperSettings {
    /// Returns a builder of settings for the keys in `storage`, which must be the catalogue's.
    pub fn builder(storage: impl KeyStorage + CredentialStorage) -> SettingsBuilder {
        SettingsBuilder {
            storage: Arc::new(storage),
            settings_url: "/settings".to_owned(),
            base_url: "/api/v1".to_owned(),
            docs_url: "/docs".to_owned(),
            brand: None,
            cross_origin_tryout: false,
            clock: Box::new(Timestamp::now),
            changes: per_minute(CHANGES_PER_MINUTE),
        }
    }
}

impl SettingsBuilder {
    /// Sets the URL at which the settings are mounted, such as `https://api.example.com/settings`, or only its path. Default:
    /// `/settings`.
    ///
    /// With a full URL, forms are accepted only from its origin. With a path, they are accepted only from the request's
    /// host, so a proxy must pass `Host` on. The session cookie's name is derived from the URL, or from host and path.
    pub fn settings_url(mut self, settings_url: impl Into<String>) -> Self {
        self.settings_url = settings_url.into();
        self
    }

    /// Sets the URL or path at which the API is mounted, as configured in the catalogue. Default: `/api/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Sets the URL or path at which the public documents are mounted, as configured in the catalogue. Default: `/docs`.
    pub fn docs_url(mut self, docs_url: impl Into<String>) -> Self {
        self.docs_url = docs_url.into();
        self
    }

    /// Sets the product's name and its link at the top of each page. Default: the documents' default title, and the list of keys.
    pub fn brand(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.brand = Some((name.into(), url.into()));
        self
    }

    /// Declares that the API, at another origin, lets scripts of the settings' origin read its responses (CORS), so that a
    /// new key can be tried on its page.
    pub fn cross_origin_tryout(mut self) -> Self {
        self.cross_origin_tryout = true;
        self
    }

    /// Sets the rate limiter of changes by account. Default: 30 a minute, in this process.
    pub fn rate_limiter(mut self, limiter: impl RateLimiter) -> Self {
        self.changes = Arc::new(limiter);
        self
    }

    /// Replaces the system's clock, for tests that do not wait for time to pass.
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Builds the settings.
    ///
    /// # Errors
    /// Returns an error if a URL is invalid, if plain HTTP is used on another machine, or if the API or its documents are hidden.
    pub fn build(self) -> Result<DeveloperSettings, SettingsError> {
        let urls = SettingsUrls::parse(&self.settings_url, &self.base_url, &self.docs_url)?;
        Ok(DeveloperSettings(Arc::new(Inner {
            policy: security::policy(STYLE, SCRIPT, &urls),
            can_try: self.cross_origin_tryout || urls.api_is_same_origin(),
            storage: self.storage,
            brand: self.brand.unwrap_or_else(|| ("Course Catalogue Read API".to_owned(), urls.page(""))),
            urls,
            clock: self.clock,
            changes: self.changes,
            request_ids: RequestIds::default(),
            in_flight: Arc::default(),
        })))
    }
}

/// Returns a rate limiter of `requests` a minute per key, which counts in this process.
pub(crate) fn per_minute(requests: u32) -> Arc<dyn RateLimiter> {
    let limit = RateLimit::new(requests, Duration::from_secs(60)).expect("a nonzero limit in whole seconds");
    Arc::new(LocalRateLimiter::new(limit))
}

impl fmt::Debug for SettingsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsBuilder").field("settings_url", &self.settings_url).finish_non_exhaustive()
    }
}
