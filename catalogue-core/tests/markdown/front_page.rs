//! What a newcomer meets first: the README at the root.

use std::fs;

use crate::{files, root};

#[test]
fn it_begins_with_the_two_commands_and_stays_short() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<_> = page.split("```").skip(1).step_by(2).take(2).collect();
    assert_eq!(blocks, ["sh\ncargo run -- demo\n", "sh\ncargo test --workspace\n"]);
    assert!(page.lines().count() <= 150, "what is more belongs into the README of a package");
}

/// Without `--locked`, whoever pastes the line builds with versions that nobody has tried.
#[test]
fn what_is_installed_has_the_locked_versions() {
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
