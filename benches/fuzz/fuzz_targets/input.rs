//! Checks inputs of the target that the environment variable `CATALOGUE_FUZZ_TARGET` names.
#![no_main]

use std::env;
use std::sync::LazyLock;

static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = env::var("CATALOGUE_FUZZ_TARGET").unwrap_or_default();
    let target = catalogue_fuzz::TARGETS.iter().find(|(target, _)| *target == name);
    target.unwrap_or_else(|| panic!("unknown target {name:?}; run .ci/fuzz for a list")).1
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| CHECK(input));
