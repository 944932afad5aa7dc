//! `catalogue config check` of valid sample files, and of files with errors of each kind.

use std::fs;
use std::path::Path;

use crate::program::TestDir;

#[test]
fn each_sample_is_accepted_or_gets_errors() {
    let dir = TestDir::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sample_configurations");
    let mut statuses = Vec::new();
    for file in fs::read_dir(&files).unwrap() {
        let file = file.unwrap().path();
        dir.write("c.toml", fs::read(&file).unwrap());
        let run = dir.run("config check --config c.toml");
        let name = file.display();
        match run.status {
            Some(0) => assert!(run.out.starts_with("SETTING"), "{name}: {run:?}"),
            Some(2) => assert!(run.err.lines().all(|line| line.starts_with("error: ")), "{name}: {run:?}"),
            _ => panic!("{name}: {run:?}"),
        }
        assert!(!run.err.contains(|c: char| c.is_control() && c != '\n'), "{name}: {run:?}");
        statuses.push(run.status);
    }
    assert!(statuses.contains(&Some(0)) && statuses.contains(&Some(2)), "{statuses:?}");
}
