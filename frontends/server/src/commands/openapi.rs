//! `catalogue openapi`

use catalogue_core::{Catalogue, DocumentFormat, MemoryStorage};

use super::Context;
use super::settings::CatalogueSettings;
use crate::cli::OpenapiArguments;
use crate::config::Setting;
use crate::exit::Failure;
use crate::output;

pub(super) fn run(arguments: OpenapiArguments, context: &Context) -> Result<(), Failure> {
    if arguments.json && !arguments.format.is_json() {
        return Err(Failure::usage("--json: this --format is not JSON; leave one of the two out"));
    }
    let settings = CatalogueSettings {
        base_url: context.layers.text(Setting::BaseUrl, arguments.base_url)?,
        docs_url: context.layers.text(Setting::DocsUrl, arguments.docs_url)?,
        ..CatalogueSettings::default()
    };
    // Whatever could not be served is not described either.
    settings.catalogue(Catalogue::with_api_keys(MemoryStorage::new()))?;
    let document = DocumentFormat::from(arguments.format)
        .render(settings.base_url(), settings.docs_url())
        .map_err(|error| Failure::usage(error.to_string()))?;
    output::print(&document)
}
