//! The inputs that are kept for the fuzz target of the configuration file, through the program.

use std::fs;
use std::path::Path;

use crate::program::TestDir;

#[test]
fn every_kept_configuration_is_right_or_explained() {
    let dir = TestDir::new();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/configuration");
    let mut statuses = Vec::new();
    for file in fs::read_dir(&seeds).unwrap() {
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
