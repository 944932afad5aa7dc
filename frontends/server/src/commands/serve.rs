//! `catalogue serve`

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalogue_core::{Catalogue, MemoryStorage};

use super::front::FrontSettings;
use super::hangup::{self, Hangup};
use super::listening::Listening;
use super::serving::{self, Signals};
use super::settings::{self, CatalogueSettings};
use super::waiting::{self, Wait};
use super::{Context, serve_on_all_cores};
use crate::admin::{self, Monitor};
use crate::cli::ServeArguments;
use crate::config::{Layers, Setting};
use crate::database::{Database, Migration};
use crate::exit::Failure;
use crate::http::Front;
use crate::last_uses::Recorder;
use crate::logging::{self, AccessLog};
use crate::otlp::{Exporter, SpanExport};
use crate::rate_limit::RateLimiting;
use crate::{duration, size, systemd};

pub(super) fn run(arguments: ServeArguments, context: &Context) -> Result<(), Failure> {
    let Prepared { database, migration, settings, front } = prepare(arguments, context)?;
    let inherited = systemd::inherited_listener()?;
    if inherited.is_none() {
        settings.listening.check_apart()?;
    }
    let monitor = Monitor::new(context.logs.sink());
    serve_on_all_cores(async {
        let hangup = Hangup::catch()?;
        let tls = front.tls.clone();
        tokio::select! {
            outcome = serve(&database, migration, &settings, front, inherited, monitor) => outcome,
            () = hangup::keep_reloading(hangup, &context.logs, tls) => Ok(()),
        }
    })
}

async fn serve(
    database: &Database,
    migration: Migration,
    settings: &Settings,
    front: Front,
    inherited: Option<TcpListener>,
    monitor: Arc<Monitor>,
) -> Result<(), Failure> {
    let mut signals = Signals::catch()?;
    let bind = async |setting, address| {
        let bound = serving::bind(address).await;
        bound.map_err(|error| serving::cannot_listen(setting, address, &error))
    };
    let bind_for_clients = async || match &inherited {
        Some(listener) => serving::adopt(listener).map_err(|error| Failure::because(&error)),
        None => bind(Setting::Listen, settings.listening.clients()).await,
    };
    // First, so that it says what is waited for.
    if let Some(address) = settings.listening.admin() {
        let (listener, bound) = bind(Setting::AdminListen, address).await?;
        admin::start(listener, bound, Arc::clone(&monitor));
    }
    // Before the database, so that it is not made for an address that cannot be had; but while it is waited for,
    // clients are refused instead of being kept in a queue.
    let early = Some(bind_for_clients().await?).filter(|_| settings.wait.is_none());
    let opened = waiting::open(database, migration, settings.wait, &mut signals).await?;
    let Some(storage) = opened else { return Ok(()) };
    monitor.opened(storage.probe());
    let (listener, bound) = match early {
        Some(bound) => bound,
        None => bind_for_clients().await?,
    };
    settings.catalogue.rate_limiting.look_at_store().await;
    monitor.metrics.limits(settings.catalogue.rate_limiting.uncounted());
    let requests = settings.listening.admin().map(|_| monitor.metrics.requests());
    let recorder = Recorder::start(Arc::from(storage.clone().into_admin()));
    let exporter = settings.spans.start(settings.catalogue.base_url(), front.tls.is_some())?;
    if let Some(exporter) = &exporter {
        monitor.metrics.exports(exporter.counts());
    }
    let spans = exporter.as_ref().map(Exporter::observer);
    let observer = ((requests, AccessLog), (recorder.observer(), spans));
    let catalogue = settings.catalogue.catalogue(storage.catalogue().observer(observer))?;
    let started = || settings.log_start(bound, database);
    serving::serve((listener, bound), catalogue, front, signals, &monitor, started).await?;
    let send_spans = async {
        if let Some(exporter) = exporter {
            exporter.finish().await;
        }
    };
    tokio::join!(recorder.finish(), send_spans);
    Ok(())
}

/// What is known before anything is opened or bound.
pub(super) struct Prepared {
    pub(super) database: Database,
    pub(super) migration: Migration,
    settings: Settings,
    pub(super) front: Front,
}

impl Prepared {
    pub(super) fn listening(&self) -> &Listening {
        &self.settings.listening
    }

    pub(super) fn base_url(&self) -> &str {
        self.settings.catalogue.base_url()
    }

    pub(super) fn rate_limiting(&self) -> &RateLimiting {
        &self.settings.catalogue.rate_limiting
    }
}

/// Whether all that `serve` is told by the layers can be.
pub(super) fn check(context: &Context) -> Result<Prepared, Failure> {
    logging::check(&context.layers)?;
    let prepared = prepare(ServeArguments::default(), context)?;
    prepared.settings.listening.check_apart()?;
    Ok(prepared)
}

fn prepare(arguments: ServeArguments, context: &Context) -> Result<Prepared, Failure> {
    let database = context.database()?;
    let migration = Migration::unless_forbidden(&context.layers, arguments.no_migrate)?;
    let database = settings::tuned(database, &context.layers, &arguments)?;
    let settings = Settings::resolve(arguments, &context.layers)?;
    // What cannot be served is refused before a database is made or migrated for it.
    settings.catalogue.catalogue(Catalogue::with_api_keys(MemoryStorage::new()))?;
    let mut front = settings.front.front()?;
    if let Some(grace) = settings.shutdown_grace {
        front.limits.shutdown_grace = grace;
    }
    Ok(Prepared { database, migration, settings, front })
}

/// Reads a grace. Whatever the machine's clock cannot count to is refused here, and not when the server is told to end.
fn grace(text: &str) -> Result<Duration, String> {
    let grace = duration::parse(text)?;
    let end = Instant::now().checked_add(grace);
    end.map(|_| grace).ok_or_else(|| format!("{text:?} is longer than can be counted; write a duration like 10s"))
}

/// What `serve` can be told.
#[derive(Debug)]
struct Settings {
    listening: Listening,
    catalogue: CatalogueSettings,
    front: FrontSettings,
    /// `None` leaves it to the server.
    shutdown_grace: Option<Duration>,
    wait: Option<Wait>,
    spans: SpanExport,
}

impl Settings {
    fn resolve(arguments: ServeArguments, layers: &Layers) -> Result<Self, Failure> {
        let shutdown_grace = layers.text(Setting::ShutdownGrace, arguments.shutdown_grace)?;
        let front = FrontSettings::resolve(layers, arguments.front)?;
        Ok(Self {
            listening: Listening::resolve(layers, arguments.listen, arguments.admin_listen)?,
            catalogue: CatalogueSettings {
                base_url: layers.text(Setting::BaseUrl, arguments.base_url)?,
                docs_url: layers.text(Setting::DocsUrl, arguments.docs_url)?,
                accept: settings::accepted_kinds(layers, arguments.accept)?,
                origins: layers.list(Setting::CorsOrigin, arguments.cors_origin)?,
                page_cache: settings::page_cache(layers, arguments.page_cache)?,
                max_in_flight: Some(front.max_in_flight),
                rate_limiting: RateLimiting::named(layers, arguments.rate_limit, arguments.rate_limit_store)?,
            },
            front,
            wait: waiting::wait(layers, arguments.wait)?,
            spans: SpanExport::named(layers, arguments.otlp_endpoint, arguments.otlp_sample)?,
            shutdown_grace: shutdown_grace.map(|text| text.parse(|text| grace(text))).transpose()?,
        })
    }

    fn log_start(&self, listening: SocketAddr, database: &Database) {
        tracing::info!(
            %listening,
            %database,
            base_url = self.catalogue.base_url(),
            docs_url = self.catalogue.docs_url(),
            page_cache = size::shown(self.catalogue.page_cache),
            rate_limit = %self.catalogue.rate_limiting,
            spans = self.spans.shown(),
            "serving"
        );
    }
}
