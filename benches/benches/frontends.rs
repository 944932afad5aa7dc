//! What a frontend adds: the tower service and the warp filter around the catalogue beside the catalogue alone, without a
//! socket.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;
use std::time::Duration;

use catalogue_benches::{Library, Work, now};
use catalogue_tower::CatalogueService;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tower_service::Service as _;

fn frontends(criterion: &mut Criterion) {
    let library = Library::with_courses(1_000);
    let caller = library.hot();
    let mut tower = CatalogueService::new(caller.catalogue().clone());
    let mut warp = warp::service(catalogue_warp::filter(caller.catalogue().clone()));
    let mut group = criterion.benchmark_group("frontends");
    for work in [Work::FirstPage, Work::Me, Work::NotModified] {
        let request = caller.request_for(work, library.courses());
        group.bench_function(BenchmarkId::new("core", work.name()), |bencher| {
            bencher.iter(|| caller.send(black_box(&request)));
        });
        let request = request.map(|()| String::new());
        group.bench_function(BenchmarkId::new("tower", work.name()), |bencher| {
            bencher.iter(|| now(tower.call(black_box(&request).clone())));
        });
        group.bench_function(BenchmarkId::new("warp", work.name()), |bencher| {
            bencher.iter(|| now(warp.call(black_box(&request).clone())));
        });
        group.bench_function(BenchmarkId::new("warp, handed over", work.name()), |bencher| {
            bencher.iter(|| now(warp.call(catalogue_warp::hand_over(black_box(&request).clone()))));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = frontends
}
criterion_main!(benches);
