//! Routes of the host application, and the catalogue for all other requests.

use catalogue_core::Catalogue;
use catalogue_tower::CatalogueService;
use poem::endpoint::TowerCompatExt as _;
use poem::{Route, get, handler, post};

/// Returns all routes; the catalogue responds to requests that no other route takes.
pub(crate) fn all(catalogue: Catalogue) -> Route {
    Route::new()
        .at("/about", get(about))
        .at("/echo", post(echo))
        .nest_no_strip("/", CatalogueService::new(catalogue).compat())
}

#[handler]
fn about() -> &'static str {
    "a host application"
}

#[handler]
fn echo(body: String) -> String {
    body
}
