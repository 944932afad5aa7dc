//! Signed and opaque tokens of a real issuer, oidc-provider, against the running program.
//!
//! The issuer comes from the package registry and is cached below the target directory. If it is unavailable, the tests
//! print a line and pass, unless `CATALOGUE_TEST_REQUIRE` names `issuer`.

mod commands;
mod introspected;
mod keys;
mod options;
mod packages;
mod revoked;
mod server;
mod signed;
mod tls;
