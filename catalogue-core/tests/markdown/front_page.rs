//! The README at the root, which newcomers read first, and `cargo install` commands in all documents.

use std::fs;

use crate::{files, root};

#[test]
fn readme_begins_with_two_commands_and_stays_short() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<_> = page.split("```").skip(1).step_by(2).take(2).collect();
    assert_eq!(blocks, ["sh\ncargo run -- demo\n", "sh\ncargo test --workspace\n"]);
    let lines = page.lines().count();
    assert!(
        lines <= 150,
        "README.md has {lines} lines, at most 150 are allowed; move details to the README of a package"
    );
}

/// Without `--locked`, `cargo install` builds with untested versions of the dependencies.
#[test]
fn install_commands_use_locked_versions() {
    let mut installs = 0;
    for file in files(&root(), "md") {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter(|line| line.contains("cargo install ")) {
            installs += 1;
            assert!(line.contains("--locked"), "{}: {line}", file.display());
        }
    }
    assert!(installs >= 3, "{installs}");
}
