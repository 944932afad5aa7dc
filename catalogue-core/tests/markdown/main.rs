//! Checks of the workspace's texts: links, paths, citations of CONTRACT.md, lists of operations, the length of two
//! documents, install commands, the first lines of doc comments, and the signatures in them.

mod doc_comments;
mod front_page;
mod links;
mod operations;
mod paths;
mod references;
mod signatures;

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap()
}

/// Returns every file below `folder` with `extension`, except in `target` and in hidden folders.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = entry.file_name();
        if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            found.extend(files(&path, extension));
        } else if kind.is_file() && path.extension().is_some_and(|suffix| suffix == extension) {
            found.push(path);
        }
    }
    found
}

/// Returns `markdown` with an empty line for each line of a code block.
fn without_code(markdown: &str) -> String {
    let mut is_code = false;
    let prose = markdown.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_fence || is_code { "\n".to_owned() } else { format!("{line}\n") }
    });
    prose.collect()
}
