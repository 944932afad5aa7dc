//! [`DeveloperPages`]: the developer settings as this program serves them.

use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use catalogue_core::limit::ClientAddress;
use catalogue_core::{AccountId, Address};
use catalogue_settings::{Answered, DeveloperSettings, Owner, SettingsError, SignInSettings};
use http::{Method, Request, Response};
use http_body_util::Full;

use crate::database::Storage;
use crate::settings::{DeveloperOptions, OwnerHeader};

/// The developer settings, mounted, and who is told of their requests.
pub(crate) struct DeveloperPages {
    address: Address,
    settings: DeveloperSettings,
    door: Door,
    told: Box<dyn Fn(&FinishedRequest<'_>) + Send + Sync>,
}

/// How an owner comes in.
enum Door {
    Links(SignInSettings),
    Proxy(OwnerHeader),
}

/// A request that was answered. Nothing in it is secret.
#[derive(Clone, Copy)]
pub(crate) struct FinishedRequest<'r> {
    /// One of a fixed list of names.
    pub(crate) action: &'static str,
    pub(crate) account: Option<&'r AccountId>,
    pub(crate) method: &'r Method,
    /// Why a proxy was not believed.
    pub(crate) refusal: Option<&'static str>,
    pub(crate) client: Option<ClientAddress>,
    pub(crate) duration: Duration,
    pub(crate) response: &'r Response<Bytes>,
}

impl FinishedRequest<'_> {
    /// Its name in logs, beside those of the API's operations.
    pub(crate) fn operation(&self) -> String {
        format!("settings.{}", self.action)
    }
}

impl DeveloperPages {
    /// Those of the accounts in `storage`, served over TLS or not.
    ///
    /// # Errors
    /// As for [`SettingsBuilder::build`](catalogue_settings::SettingsBuilder::build).
    pub(crate) fn new(
        options: &DeveloperOptions,
        storage: &Storage,
        secured: bool,
        told: impl Fn(&FinishedRequest<'_>) + Send + Sync + 'static,
    ) -> Result<Self, SettingsError> {
        let settings = options.told_to(storage.developer_settings()).build()?;
        let door = match &options.owner_header {
            Some(header) => Door::Proxy(header.clone()),
            None => {
                let links = storage.with_sign_in(&settings);
                // Elsewhere than on this machine a path alone was refused.
                let is_plain = options.url.origin().is_empty() && !secured;
                Door::Links(if is_plain { links.without_tls() } else { links })
            }
        };
        Ok(Self { address: options.url.clone(), settings, door, told: Box::new(told) })
    }

    /// Whether a request for that path is one for them.
    pub(crate) fn have(&self, path: &str) -> bool {
        self.address.below(path).is_some()
    }

    /// Answers a request for one of their paths.
    pub(crate) async fn answer(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        let began = Instant::now();
        let (method, client) = (request.method().clone(), request.extensions().get().copied());
        let mut refusal = None;
        let response = match &self.door {
            Door::Links(settings) => settings.call(request).await,
            Door::Proxy(header) => match header.account(&request) {
                Ok(account) => self.settings.call_as(Owner::claimed(account), request).await,
                Err(reason) => {
                    refusal = Some(reason);
                    self.settings.refuse(request).await
                }
            },
        };
        if let Some(Answered { action, account, .. }) = response.extensions().get() {
            let (account, duration) = (account.as_ref(), began.elapsed());
            (self.told)(&FinishedRequest {
                action,
                account,
                method: &method,
                refusal,
                client,
                duration,
                response: &response,
            });
        }
        response
    }
}

impl fmt::Debug for DeveloperPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeveloperPages").field("settings", &self.settings).finish_non_exhaustive()
    }
}
