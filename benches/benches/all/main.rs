//! Benchmarks of parts, without a socket. `cargo bench -p catalogue-benches -- TEXT` runs those whose names contain TEXT.

#![allow(missing_docs)] // criterion's macros create undocumented items

mod call;
mod parts;
mod signed;
mod storage;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = parts::token, parts::envelope, storage::lookups, call::call, call::frontends, signed::signed
}
criterion_main!(benches);
