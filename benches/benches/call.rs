//! `Catalogue::call` from request to response over SQLite, without a socket: with answers that are kept, with every answer
//! rendered anew, and with answers that are kept and requests that are counted against a rate limit.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;
use std::time::Duration;

use catalogue_benches::{Library, Work};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn call(criterion: &mut Criterion) {
    let library = Library::with_courses(10_000);
    let mut group = criterion.benchmark_group("call");
    for (cache, caller) in [("hot", library.hot()), ("cold", library.cold()), ("limited", library.limited())] {
        for work in Work::ALL {
            let request = caller.request_for(work, library.courses());
            group.bench_function(BenchmarkId::new(cache, work.name()), |bencher| {
                bencher.iter(|| caller.send(black_box(&request)));
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = call
}
criterion_main!(benches);
