//! `catalogue serve`

use std::net::SocketAddr;
use std::time::Duration;

use catalogue_core::MemoryStorage;

use super::settings::{self, CatalogueSettings};
use super::{Context, serve_on_all_cores, serving};
use crate::cli::ServeArguments;
use crate::config::{Layers, Setting};
use crate::database::Migration;
use crate::duration;
use crate::exit::Failure;

pub(super) fn run(arguments: ServeArguments, context: &Context) -> Result<(), Failure> {
    let database = context.database()?;
    let migration = Migration::unless_forbidden(&context.layers, arguments.no_migrate)?;
    let settings = Settings::resolve(arguments, &context.layers)?;
    // What cannot be served is refused before a database is made or migrated for it.
    settings.catalogue.catalogue(MemoryStorage::new())?;
    serve_on_all_cores(async {
        let bound =
            serving::bind(settings.listen).await.map_err(|error| serving::cannot_listen(settings.listen, &error))?;
        let catalogue = settings.catalogue.catalogue(database.open_for(migration)?)?;
        serving::serve(bound, catalogue, settings.shutdown_grace, || ()).await
    })
}

/// What `serve` can be told.
#[derive(Debug)]
struct Settings {
    listen: SocketAddr,
    catalogue: CatalogueSettings,
    /// `None` leaves it to the server.
    shutdown_grace: Option<Duration>,
}

impl Settings {
    fn resolve(arguments: ServeArguments, layers: &Layers) -> Result<Self, Failure> {
        let grace = layers.text(Setting::ShutdownGrace, arguments.shutdown_grace)?;
        Ok(Self {
            listen: serving::listen_address(layers, arguments.listen)?.unwrap_or(serving::DEFAULT_ADDRESS),
            catalogue: CatalogueSettings {
                base_url: layers.text(Setting::BaseUrl, arguments.base_url)?,
                docs_url: layers.text(Setting::DocsUrl, arguments.docs_url)?,
                accept: settings::accepted_kinds(layers, arguments.accept)?,
                origins: layers.list(Setting::CorsOrigin, arguments.cors_origin)?,
            },
            shutdown_grace: grace.map(|grace| grace.parse(|text| duration::parse(text))).transpose()?,
        })
    }
}
