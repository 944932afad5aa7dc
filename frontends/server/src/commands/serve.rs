//! `catalogue serve`

/// Placeholder: a build without OAuth accepts no issuer's tokens.
#[cfg(not(feature = "oauth"))]
use std::convert::Infallible as IssuerTokens;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use catalogue_core::observe::Observer;
use catalogue_hyper::{ServerConfig, Tls};
use catalogue_observers::last_uses::Recorder;
use tokio::task::spawn_blocking;

use super::signals::{Signal, Signals, catch_hangup};
use super::{Context, serve_on_all_cores, serving, startup_warnings, waiting};
use crate::admin::{self, Monitor};
use crate::developer_settings::SettingsService;
use crate::exit::Failure;
#[cfg(feature = "oauth")]
use crate::issuer::{IssuerOptions, IssuerTokens};
use crate::logging::AccessLog;
#[cfg(feature = "otel")]
use crate::otlp;
use crate::settings::ServeSettings;
use crate::settings::table::{ADMIN_LISTEN, LISTEN, TLS_CERT, TLS_KEY};
use crate::systemd;

/// Interval between checks of the certificate's files, in addition to reloads by signal.
const CERTIFICATE_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Runs the server. Invalid settings are refused before a database is created or migrated.
pub(super) fn run(context: &Context) -> Result<(), Failure> {
    let settings = ServeSettings::read(&context.settings);
    let inherited = systemd::inherited_listener();
    if let Ok(listener) = &inherited {
        let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
        settings.check_listeners(&context.settings, address);
    }
    context.settings.finish()?;
    let with_sources = |error: String| Failure::work(context.settings.sourced(&[&TLS_CERT, &TLS_KEY], &error));
    let tls = settings.tls().map_err(with_sources)?;
    let inherited = inherited?;
    let tokens: Option<IssuerTokens> = None;
    #[cfg(feature = "oauth")]
    let tokens = settings.api.issuer.as_ref().map(IssuerOptions::tokens).transpose()?.or(tokens);
    let config = ServerConfig { tls: tls.clone(), ..settings.server.clone() };
    let monitor = Monitor::new(Arc::clone(&context.logs.sink));
    serve_on_all_cores(async {
        let hangup = catch_hangup()?;
        tokio::select! {
            outcome = serve(&settings, config, inherited, monitor, &tokens) => outcome,
            () = keep_reloading(hangup, context, tls, &tokens) => Ok(()),
        }
    })
}

/// Reloads the log filter, the certificate and the issuer's keys, if any, on each SIGHUP. Never returns.
#[cfg_attr(not(feature = "oauth"), expect(unused_variables, reason = "a build without OAuth has no tokens"))]
async fn keep_reloading(mut hangup: Signal, context: &Context, tls: Option<Arc<Tls>>, tokens: &Option<IssuerTokens>) {
    let reload_logs = context.log_reloader();
    let mut reload_requested = async || {
        hangup.recv().await;
        let reload = systemd::Reload::begin();
        #[cfg(feature = "oauth")]
        if let Some(tokens) = tokens {
            tokens.refresh_requested.notify_one();
        }
        // On a blocking thread: the configuration file may be a pipe, and this task also serves. A panic there is logged.
        let _ = spawn_blocking(reload_logs.clone()).await;
        reload
    };
    match tls {
        Some(tls) => catalogue_hyper::reload_certificate(tls, CERTIFICATE_CHECK_INTERVAL, reload_requested).await,
        None => loop {
            drop(reload_requested().await);
        },
    }
}

#[cfg_attr(not(feature = "oauth"), expect(unused_variables, reason = "a build without OAuth has no tokens"))]
async fn serve(
    settings: &ServeSettings,
    config: ServerConfig,
    inherited: Option<TcpListener>,
    monitor: Arc<Monitor>,
    tokens: &Option<IssuerTokens>,
) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    let bind =
        |setting, address| serving::bind(address).map_err(|error| serving::cannot_listen(setting, address, &error));
    let bind_for_clients = || match &inherited {
        Some(listener) => serving::adopt(listener).map_err(Failure::from),
        None => bind(&LISTEN, settings.listen),
    };
    // Started before the database is opened, so that `/ready` reports that the server waits for it.
    if let Some(address) = settings.admin_listen {
        let (listener, bound) = bind(&ADMIN_LISTEN, address)?;
        admin::start(listener, bound, Arc::clone(&monitor));
    }
    // Bound early, so that a taken address creates no database. With `--wait`, closed again: clients are refused, not queued.
    let early_listener = Some(bind_for_clients()?).filter(|_| settings.wait.is_none());
    let is_new = settings.database.is_missing();
    let opened = waiting::open(&settings.database, settings.migration, settings.wait, &mut signals).await?;
    let Some(storage) = opened else { return Ok(()) };
    monitor.set_storage(storage.clone());
    let (listener, bound) = match early_listener {
        Some(bound) => bound,
        None => bind_for_clients()?,
    };
    settings.api.rate_limiting.log_store_status().await;
    // Cannot be set already: a server serves once.
    let _ = monitor.metrics.uncounted.set(Arc::clone(&settings.api.rate_limiting.uncounted));
    let requests = settings.admin_listen.map(|_| Arc::clone(&monitor.metrics.requests));
    let recorder = Recorder::start(Arc::from(storage.clone().into_admin()));
    let spans: Option<Arc<dyn Observer>> = None;
    #[cfg(feature = "otel")]
    let start = |spans| otlp::start(spans, &settings.api.base_url, config.tls.is_some());
    #[cfg(feature = "otel")]
    let exporter = settings.spans.as_ref().map(start).transpose()?;
    #[cfg(feature = "otel")]
    let spans = exporter
        .as_ref()
        .map(|exporter| {
            let _ = monitor.metrics.spans.set(exporter.counts());
            exporter.observer()
        })
        .or(spans);
    let observer = ((requests, AccessLog), (recorder.observer(), spans));
    let builder = storage.clone().catalogue().observer(observer);
    #[cfg(feature = "oauth")]
    let builder = match (&settings.api.issuer, tokens) {
        (Some(issuer), Some(tokens)) => {
            let refresh_requested = Arc::clone(&tokens.refresh_requested);
            tokio::spawn(catalogue_issuer::keep_fetching_with_trigger(
                tokens.signed.clone(),
                issuer.interval(),
                refresh_requested,
            ));
            let _ = monitor.metrics.tokens.set(tokens.clone());
            let builder = builder.or_authenticator(tokens.signed.clone());
            if let Some(opaque) = &tokens.opaque { builder.or_authenticator(opaque.clone()) } else { builder }
        }
        _ => builder,
    };
    let catalogue = settings.api.catalogue(builder)?;
    let secured = config.tls.is_some();
    let developer = settings.developer.as_ref();
    let pages = developer.map(|developer| SettingsService::new(developer, &storage, secured, &monitor)).transpose()?;
    let started = || {
        log_start(settings, bound, &startup_warnings::documents(settings, bound, secured));
        if startup_warnings::in_cleartext(settings, bound, secured) {
            tracing::warn!("{}", startup_warnings::CLEARTEXT);
        }
        if let Some(warning) = developer.and_then(|developer| developer.warning(bound)) {
            tracing::warn!("{warning}");
        }
        startup_warnings::warn_about_views(storage.clone());
        if is_new {
            startup_warnings::warn_new_database(&settings.database);
        } else {
            startup_warnings::warn_if_no_keys(storage.into_admin());
        }
    };
    serving::serve((listener, bound), (catalogue, pages), config, signals, &monitor, started).await?;
    let send_spans = async {
        #[cfg(feature = "otel")]
        if let Some(exporter) = exporter {
            exporter.finish().await;
        }
    };
    tokio::join!(recorder.finish(), send_spans);
    Ok(())
}

fn log_start(settings: &ServeSettings, listening: SocketAddr, documents: &str) {
    let ServeSettings { database, api, spans, developer, .. } = settings;
    let issuer: Option<&str> = None;
    #[cfg(feature = "oauth")]
    let issuer = api.issuer.as_ref().map(|issuer| &*issuer.issuer).or(issuer);
    tracing::info!(
        %listening,
        %documents,
        %database,
        base_url = api.base_url,
        docs_url = api.docs_url,
        issuer,
        settings_url = developer.as_ref().map(|developer| developer.url.as_str()),
        page_cache = api.page_cache,
        rate_limit = %api.rate_limiting,
        spans = spans.as_ref().map(|(endpoint, _)| endpoint.to_string()),
        "serving"
    );
}
