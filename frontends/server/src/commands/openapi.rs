//! `catalogue openapi`

use catalogue_core::{DocumentFormat, MemoryStorage};

use super::Context;
use super::settings::CatalogueSettings;
use crate::cli::OpenapiArguments;
use crate::config::Setting;
use crate::exit::Failure;
use crate::output;

pub(super) fn run(arguments: OpenapiArguments, context: &Context) -> Result<(), Failure> {
    let settings = CatalogueSettings {
        base_url: context.layers.text(Setting::BaseUrl, arguments.base_url)?,
        docs_url: context.layers.text(Setting::DocsUrl, arguments.docs_url)?,
        ..CatalogueSettings::default()
    };
    // Whatever could not be served is not described either.
    settings.catalogue(MemoryStorage::new())?;
    let base_url = settings.base_url.as_ref().map_or("/api/v1", |setting| &setting.value);
    let docs_url = settings.docs_url.as_ref().map_or("/docs", |setting| &setting.value);
    let document = DocumentFormat::from(arguments.format)
        .render(base_url, docs_url)
        .map_err(|error| Failure::usage(error.to_string()))?;
    output::print(&document)
}
