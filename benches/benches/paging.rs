//! A page by depth, number of courses and limit: the storage's keyset beside the same page by OFFSET, in plain SQL on the
//! same file. The keyset's cost is that of its rows, wherever they are; that of OFFSET is also that of all rows before.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;
use std::time::Duration;

use catalogue_benches::{Library, OffsetReader, now, position_after};
use catalogue_core::{CourseStorage as _, Limit, PageRequest};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

fn paging(criterion: &mut Criterion) {
    for courses in [1_000, 10_000, 100_000] {
        let library = Library::with_courses(courses);
        let offset = OffsetReader::open(&library.path()).expect("the library's file");
        let account = Library::account();
        let mut group = criterion.benchmark_group(format!("paging/{courses} courses"));
        for (place, depth) in [("first", 0), ("deep", library.deep())] {
            for limit in [10, 50, 100] {
                let page =
                    PageRequest { limit: Limit::new(limit).expect("a limit"), after: position_after(courses, depth) };
                group.bench_function(BenchmarkId::new(format!("keyset, {place}"), limit), |bencher| {
                    bencher.iter(|| now(library.storage().list_courses(&account, black_box(&page))));
                });
                group.bench_function(BenchmarkId::new(format!("OFFSET, {place}"), limit), |bencher| {
                    bencher.iter(|| offset.page(account.as_str(), limit.into(), black_box(depth)));
                });
            }
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_200))
        .sample_size(30);
    targets = paging
}
criterion_main!(benches);
