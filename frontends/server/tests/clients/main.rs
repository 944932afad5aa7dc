//! Clients that third-party generators make from the OpenAPI document, and the samples of the reference page, against the
//! running program.
//!
//! The generators come from the package registries and are cached below the target directory. If they are unavailable,
//! the tests print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `clients`.

#[cfg(unix)]
mod django;
mod library;
#[path = "../it/observed.rs"]
#[expect(dead_code, reason = "the tests of the command line use the rest of it")]
mod observed;
#[path = "../it/program.rs"]
#[expect(dead_code, reason = "the tests of the command line use the rest of it")]
mod program;
mod python;
mod samples;
mod service;
#[path = "../it/skip.rs"]
mod skip;
mod sync;
mod tools;
mod typescript;
#[cfg(unix)]
#[path = "../it/developer_settings/visitor.rs"]
#[expect(dead_code, reason = "the tests of the developer settings use the rest of it")]
mod visitor;
