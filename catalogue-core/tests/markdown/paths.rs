//! The length of ARCHITECTURE.md (the map of the code), and the paths in it and in each DECISIONS.md.

use std::fs;
use std::path::Path;

use crate::{files, root, without_code};

#[test]
fn map_is_readable_in_15_minutes() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (lines, words) = (map.lines().count(), map.split_whitespace().count());
    assert!(lines <= 180 && words <= 2_600, "{lines} lines, {words} words; move details to the package's DECISIONS.md");
}

#[test]
fn every_path_in_map_and_decisions_exists() {
    let root = root();
    let (mut count, mut dead) = (0, Vec::new());
    for file in files(&root, "md") {
        if !["ARCHITECTURE.md", "DECISIONS.md"].iter().any(|name| file.ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let prose = without_code(&text);
        let paths = paths(&prose);
        count += paths.len();
        let folders = [file.parent().unwrap(), root.as_path()];
        let missing = paths.into_iter().filter(|path| !exists(folders, path));
        dead.extend(missing.map(|path| format!("{}: {path}", file.strip_prefix(&root).unwrap().display())));
    }
    assert!(count > 80, "{count} paths are too few");
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn dead_path_is_detected() {
    let text = without_code(
        "`src/lib.rs`, `no/such`, `none.rs`\n```\n`in/code`\n```\n`GET /me` `/live` `a` a/b `catalogue-core`",
    );
    assert_eq!(paths(&text), ["src/lib.rs", "no/such", "none.rs"]);
    let (root, core) = (root(), root().join("catalogue-core"));
    let dead: Vec<_> = paths(&text).into_iter().filter(|path| !exists([&core, &root], path)).collect();
    assert_eq!(dead, ["no/such", "none.rs"]);
}

/// Returns the texts in backticks that are relative paths: they have a slash, or name a source file.
fn paths(prose: &str) -> Vec<&str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "/._-".contains(char);
    let is_path = |text: &&str| {
        let is_relative = !text.starts_with('/') && text.chars().all(is_part);
        is_relative && (text.contains('/') || text.ends_with(".rs"))
    };
    prose.split('`').skip(1).step_by(2).filter(is_path).collect()
}

fn exists(folders: [&Path; 2], path: &str) -> bool {
    folders.iter().any(|folder| folder.join(path).exists())
}
