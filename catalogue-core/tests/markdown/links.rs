//! Relative links, which must name an existing file or folder, and anchors, which must name a heading.

use std::fs;
use std::path::Path;

use crate::{files, root, without_code};

#[test]
fn every_link_resolves() {
    let root = root();
    let files = files(&root, "md");
    assert!(files.len() >= 20, "{files:?}");
    let dead = |file: &std::path::PathBuf| {
        let links = dead_links(file, &fs::read_to_string(file).unwrap());
        links.into_iter().map(|link| format!("{}: {link}", file.strip_prefix(&root).unwrap().display())).collect()
    };
    let dead: Vec<String> = files.iter().flat_map(|file| -> Vec<String> { dead(file) }).collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn dead_link_is_detected() {
    let file = root().join("README.md");
    let text = "# A `b`: c_d, 10^9!\n# A\n# A\n[x](none.md) [y](#a-b-c_d-109) [z](#a-1) [n](#none) `[i](code)`\n\
        [two\nlines](LICENSE-MIT) [out](https://example.org) ![p](benches/paging.svg)\n\
        [s](SECURITY.md#reporting-a-vulnerability) [t](SECURITY.md#none) [f](examples)\n```\n# Code\n[c](code)\n```\n[e](#code)";
    assert_eq!(dead_links(&file, text), ["none.md", "#none", "SECURITY.md#none", "#code"]);
}

/// Returns the links in `text`, the content of `file`, that do not resolve.
fn dead_links(file: &Path, text: &str) -> Vec<String> {
    let prose = without_code(text);
    // Every second piece is between backticks.
    let prose: String = prose.split('`').step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let relative = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    relative.filter(|target| !resolves(file, text, target)).map(str::to_owned).collect()
}

fn resolves(file: &Path, text: &str, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let path = file.parent().unwrap().join(path);
    let Some(anchor) = anchor else { return path.exists() };
    if target.starts_with('#') {
        return anchors(text).iter().any(|name| name == anchor);
    }
    fs::read_to_string(path).is_ok_and(|text| anchors(&text).iter().any(|name| name == anchor))
}

/// Returns the anchors of the headings, as sites that render Markdown create them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors = Vec::<String>::new();
    let prose = without_code(text);
    for heading in prose.lines().filter(|line| line.starts_with('#')) {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let allowed = heading.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        let name = allowed.collect::<String>().replace(' ', "-");
        let next = (1..).map(|number| format!("{name}-{number}"));
        let free = [name.clone()].into_iter().chain(next).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}
