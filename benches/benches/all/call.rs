//! `Catalogue::call` from request to response over SQLite, without a socket: with cached responses, and with every response
//! rendered.

use std::hint::black_box;

use catalogue_benches::{Call, Library, block_on};
use catalogue_tower::CatalogueService;
use criterion::{BenchmarkId, Criterion};
use tower_service::Service as _;

pub(crate) fn call(criterion: &mut Criterion) {
    let library = Library::with_courses(10_000);
    let mut group = criterion.benchmark_group("call");
    for (cache, caller) in [("hot", library.hot()), ("cold", library.cold())] {
        for call in Call::ALL {
            let request = caller.request_for(call, library.owner().courses).expect("a 200");
            group.bench_function(BenchmarkId::new(cache, call.name()), |bencher| {
                bencher.iter(|| caller.send(black_box(&request)));
            });
        }
    }
    group.finish();
}

/// Measures the cost of a frontend: the tower service and the warp filter, compared with only the catalogue.
pub(crate) fn frontends(criterion: &mut Criterion) {
    let library = Library::with_courses(1_000);
    let caller = library.hot();
    let mut tower = CatalogueService::new(caller.catalogue().clone());
    let mut warp = warp::service(catalogue_warp::filter(caller.catalogue().clone()));
    let mut group = criterion.benchmark_group("frontends");
    for call in [Call::FirstPage, Call::Me, Call::NotModified] {
        let request = caller.request_for(call, library.owner().courses).expect("a 200");
        group.bench_function(BenchmarkId::new("core", call.name()), |bencher| {
            bencher.iter(|| caller.send(black_box(&request)));
        });
        let request = request.map(|()| String::new());
        group.bench_function(BenchmarkId::new("tower", call.name()), |bencher| {
            bencher.iter(|| block_on(tower.call(black_box(&request).clone())));
        });
        group.bench_function(BenchmarkId::new("warp", call.name()), |bencher| {
            bencher.iter(|| block_on(warp.call(black_box(&request).clone())));
        });
        group.bench_function(BenchmarkId::new("warp, attached head", call.name()), |bencher| {
            bencher.iter(|| block_on(warp.call(catalogue_warp::attach_head(black_box(&request).clone()))));
        });
    }
    group.finish();
}
