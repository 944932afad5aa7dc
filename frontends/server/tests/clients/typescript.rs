//! A client in TypeScript: types by openapi-typescript, calls by openapi-fetch.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::service::Service;
use crate::tools::{installed, or_skip, output_of, run};

const MANIFESTS: [(&str, &str); 3] = [
    ("package.json", include_str!("typescript/package.json")),
    ("package-lock.json", include_str!("typescript/package-lock.json")),
    (".npmrc", include_str!("typescript/.npmrc")),
];

/// A folder with the packages.
fn packages() -> Result<PathBuf, String> {
    installed("typescript", &MANIFESTS, |folder| {
        output_of(Command::new("node").arg("--version"))?;
        let flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1"];
        output_of(Command::new("npm").arg("ci").args(flags).current_dir(folder)).map(|_| ())
    })
}

/// Types out of a document, without a warning.
fn generate(project: &Path, document: &str, types: &str) {
    let mut generator = Command::new(project.join("node_modules/.bin/openapi-typescript"));
    generator.args([document, "--output", types]).env("NO_PROXY", "127.0.0.1").current_dir(project);
    let output = generator.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{document}: {complaints}");
}

#[test]
fn a_client_in_typescript_reads_the_whole_catalogue() {
    let Some(packages) = or_skip(packages()) else { return };
    let service = Service::start();
    for (file, text) in [
        ("package.json", MANIFESTS[0].1),
        ("tsconfig.json", include_str!("typescript/tsconfig.json")),
        ("main.ts", include_str!("typescript/main.ts")),
    ] {
        service.dir.write(file, text);
    }
    let project = service.dir.path("");
    symlink(packages.join("node_modules"), project.join("node_modules")).unwrap();
    generate(&project, &service.document_url(), "api.ts");
    generate(&project, "openapi-3.0.json", "api-3.0.ts");

    // Strict by its settings; nothing is written where a type is wrong.
    let mut compiler = Command::new(project.join("node_modules/.bin/tsc"));
    run(compiler.args(["--project", ".", "--noEmitOnError"]).current_dir(&project));
    service.assert_read_by(Command::new("node").arg("main.js").current_dir(&project));
}
