//! Runs each seed of the fuzz targets through the check of its target.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[allow(unreachable_pub)]
#[path = "../fuzz/src/lib.rs"]
mod targets;

#[test]
fn all_fuzz_seeds_pass() {
    for (name, check) in targets::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
        let mut inputs = 0;
        for file in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{name}: {error}")) {
            let file = file.unwrap().path();
            let input = fs::read(&file).unwrap();
            assert!(catch_unwind(|| check(&input)).is_ok(), "{}", file.display());
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no seeds");
    }
}
