//! Installation of the issuer's program and its packages, once for all tests.

use std::path::PathBuf;
use std::process::Command;

use crate::tools::{installed, output_of};

const MANIFESTS: [(&str, &str); 4] = [
    ("package.json", include_str!("issuer/package.json")),
    ("package-lock.json", include_str!("issuer/package-lock.json")),
    (".npmrc", include_str!("issuer/.npmrc")),
    ("issuer.mjs", include_str!("issuer/issuer.mjs")),
];

/// Returns a directory with the program and its packages.
pub(crate) fn packages() -> Result<PathBuf, String> {
    installed("issuer", &MANIFESTS, |folder| {
        output_of(Command::new("node").arg("--version"))?;
        let flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1"];
        output_of(Command::new("npm").arg("ci").args(flags).current_dir(folder)).map(|_| ())
    })
}
