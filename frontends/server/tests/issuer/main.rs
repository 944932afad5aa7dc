//! Signed and opaque tokens of a real issuer, oidc-provider, against the running program.
//!
//! The issuer comes from the package registry and is cached below the target directory. If it is unavailable, the tests
//! print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `issuer`.
#![cfg(all(unix, feature = "oauth"))]

mod commands;
mod introspected;
mod issuer;
mod keys;
#[path = "../it/observed.rs"]
mod observed;
mod options;
mod packages;
#[path = "../it/program.rs"]
#[expect(dead_code, reason = "the tests of the command line use the rest of it")]
mod program;
mod revoked;
mod signed;
#[path = "../it/skip.rs"]
mod skip;
mod tls;
#[path = "../clients/tools.rs"]
#[expect(dead_code, reason = "the tests of clients use the rest of it")]
mod tools;
