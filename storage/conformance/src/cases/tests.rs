//! Checks that the lists of cases are complete.

use std::fs;
use std::path::Path;

use super::*;

/// Returns the names of the public async functions of every file in the folders of cases, by folder and file.
fn cases_of_the_sources() -> Vec<(String, String, Vec<String>)> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for folder in fs::read_dir(sources).expect("the sources exist").map(|entry| entry.expect("an entry").path()) {
        for file in fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
            let source = fs::read_to_string(&file).expect("a source is UTF-8");
            let names = source.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            let names = names.map(|line| line.split(['(', '<']).next().expect("a name").to_owned()).collect();
            found.push((name_of(&folder), name_of(&file), names));
        }
    }
    found.retain(|(_, _, names): &(_, _, Vec<_>)| !names.is_empty());
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_stem().and_then(|name| name.to_str()).expect("an ASCII name").to_owned()
}

#[test]
fn case_list_equals_cases_of_sources() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let listed = CASES.into_iter().flatten();
    let listed: Vec<_> =
        listed.map(|(group, topic, cases)| (group.to_string(), topic.to_string(), names(cases))).collect();
    assert_eq!(listed, cases_of_the_sources(), "topics in alphabetical order, cases as in the file");
}
