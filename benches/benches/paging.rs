//! What a page of fifty costs, from request to response over SQLite: by depth, and by the number of courses. Paging is
//! right when neither matters.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;

use catalogue_benches::Library;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn paging(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("page of 50");
    for courses in [1_000, 10_000, 100_000] {
        let library = Library::with_courses(courses);
        // Nine tenths of the way down.
        let pages = [("first", library.page_after(0)), ("deep", library.page_after(courses * 9 / 10 / 100))];
        for (depth, target) in pages {
            group.bench_function(BenchmarkId::new(depth, courses), |bencher| {
                bencher.iter(|| black_box(library.get(black_box(&target))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, paging);
criterion_main!(benches);
