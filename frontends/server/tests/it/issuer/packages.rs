//! Installation of the issuer's program and its packages, once for all tests.

use std::path::PathBuf;

use crate::tools::npm_packages;

const MANIFESTS: [(&str, &str); 4] = [
    ("package.json", include_str!("provider/package.json")),
    ("package-lock.json", include_str!("provider/package-lock.json")),
    (".npmrc", include_str!("provider/.npmrc")),
    ("issuer.mjs", include_str!("provider/issuer.mjs")),
];

/// Returns a directory with the program and its packages.
pub(crate) fn packages() -> Result<PathBuf, String> {
    npm_packages("issuer", &MANIFESTS)
}
