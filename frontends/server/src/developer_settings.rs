//! [`SettingsService`]: serves the developer settings.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use catalogue_core::limit::ClientAddress;
use catalogue_core::{AccountId, MountUrl};
use catalogue_hyper::RequestBody;
use catalogue_settings::{DeveloperSettings, Owner, RequestLabels, SettingsError, SignInSettings};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use tokio::sync::Notify;

use crate::admin::Monitor;
use crate::database::Storage;
use crate::logging::{is_refused, method_name};
use crate::settings::{DeveloperOptions, OwnerHeader};

/// Maximum length of a body in bytes.
const MAX_BODY: usize = 16 * 1024;

/// The mounted developer settings. Counts and logs their requests.
#[derive(Debug)]
pub(crate) struct SettingsService {
    address: MountUrl,
    settings: DeveloperSettings,
    mode: SignInMode,
    monitor: Arc<Monitor>,
    sign_in_shown: Arc<Notify>,
}

/// How an owner signs in.
#[derive(Debug)]
enum SignInMode {
    Links(SignInSettings),
    Proxy(OwnerHeader),
}

impl SettingsService {
    /// Creates the service for the accounts in `storage`; `secured` is whether clients use TLS.
    ///
    /// # Errors
    /// Returns the errors of [`SettingsBuilder::build`](catalogue_settings::SettingsBuilder::build).
    pub(crate) fn new(
        options: &DeveloperOptions,
        storage: &Storage,
        secured: bool,
        monitor: &Arc<Monitor>,
    ) -> Result<Self, SettingsError> {
        let settings = options.apply_to(storage.developer_settings()).build()?;
        let mode = match &options.owner_header {
            Some(header) => SignInMode::Proxy(header.clone()),
            None => {
                let links = storage.with_sign_in(&settings);
                // Without TLS, a bare path was accepted only on a loopback address.
                let is_plain = options.url.origin().is_empty() && !secured;
                SignInMode::Links(if is_plain { links.without_tls() } else { links })
            }
        };
        monitor.metrics.settings.start();
        let (address, sign_in_shown) = (options.url.clone(), Arc::default());
        Ok(Self { address, settings, mode, monitor: Arc::clone(monitor), sign_in_shown })
    }

    /// Returns what is notified when a client gets the sign-in page.
    pub(crate) fn sign_in_shown(&self) -> Arc<Notify> {
        Arc::clone(&self.sign_in_shown)
    }

    /// Returns whether `path` belongs to the developer settings.
    pub(crate) fn is_mounted_at(&self, path: &str) -> bool {
        self.address.below(path).is_some()
    }

    /// Responds to a request for the developer settings.
    pub(crate) async fn respond(&self, request: Request<RequestBody>) -> Response<Bytes> {
        let request = match collect_body(request).await {
            Ok(request) => request,
            Err(status) => {
                let mut refusal = Response::default();
                *refusal.status_mut() = status;
                return refusal;
            }
        };
        let began = Instant::now();
        let (method, client) = (request.method().clone(), request.extensions().get::<ClientAddress>().copied());
        let mut refusal = None;
        let response = match &self.mode {
            SignInMode::Links(settings) => settings.call(request).await,
            SignInMode::Proxy(header) => match header.account(&request) {
                Ok(account) => self.settings.call_as(Owner::unverified(account), request).await,
                Err(reason) => {
                    refusal = Some(reason);
                    self.settings.refuse(request).await
                }
            },
        };
        if let Some(RequestLabels { action, account, .. }) = response.extensions().get() {
            self.monitor.metrics.settings.count(action, response.status());
            if *action == "show_sign_in" {
                self.sign_in_shown.notify_one();
            }
            let status = response.status();
            tracing::info!(
                target: "catalogue::access",
                operation = format!("settings.{action}"),
                method = method_name(&method),
                status = u64::from(status.as_u16()),
                duration_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
                bytes = response.body().len() as u64,
                account = account.as_ref().map(AccountId::as_str),
                refusal,
                client = (is_refused(status) || refusal.is_some()).then_some(client).flatten().map(|client| tracing::field::display(client.0)),
                request_id = response.headers().get("x-request-id").and_then(|id| id.to_str().ok()),
            );
        }
        response
    }
}

/// Collects the body of a POST or PATCH request, and ignores the body of any other. A request takes an in-flight slot
/// only after its body has arrived, so that slow clients keep no owner out.
async fn collect_body(request: Request<RequestBody>) -> Result<Request<Full<Bytes>>, StatusCode> {
    let (head, body) = request.into_parts();
    if ![Method::POST, Method::PATCH].contains(&head.method) {
        return Ok(Request::from_parts(head, Full::default()));
    }
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(Request::from_parts(head, Full::new(body.to_bytes()))),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}
