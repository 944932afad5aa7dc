//! The host's routes, and the catalogue behind them.

use catalogue_core::Catalogue;
use catalogue_tower::CatalogueService;
use poem::endpoint::TowerCompatExt as _;
use poem::{Route, get, handler, post};

/// All routes; what the host's own do not know, the catalogue answers.
pub(crate) fn all(catalogue: Catalogue) -> Route {
    Route::new()
        .at("/about", get(about))
        .at("/echo", post(echo))
        .nest_no_strip("/", CatalogueService::new(catalogue).compat())
}

#[handler]
fn about() -> &'static str {
    "a host of its own"
}

#[handler]
fn echo(body: String) -> String {
    body
}
