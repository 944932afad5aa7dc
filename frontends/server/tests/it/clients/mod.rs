//! Clients that third-party generators make from the OpenAPI document, and the samples of the reference page, against the
//! running program.
//!
//! The generators come from the package registries and are cached below the target directory. If they are unavailable,
//! the tests print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `clients`.

#[cfg(unix)]
mod django;
mod library;
mod python;
mod samples;
mod service;
mod sync;
mod typescript;
