//! Calls of the SQLite storage: the reads of a request, without HTTP.

use std::hint::black_box;

use catalogue_benches::{Library, OffsetReader, block_on, course, position_after};
use catalogue_core::storage::{CourseStorage as _, CredentialStorage as _, Limit, PageRequest};
use criterion::{BenchmarkId, Criterion};

pub(crate) fn lookups(criterion: &mut Criterion) {
    let library = Library::with_courses(10_000);
    let (storage, owner) = (library.storage(), library.owner());
    let (account, digest) = (&owner.account, owner.token.digest());
    let slug = course(account, owner.courses / 2).slug;
    let mut group = criterion.benchmark_group("storage");
    group.bench_function("credential and revision", |bencher| {
        bencher.iter(|| block_on(storage.find_credential(black_box(&digest))));
    });
    group.bench_function("revision", |bencher| bencher.iter(|| block_on(storage.revision(black_box(account)))));
    group.bench_function("detail", |bencher| bencher.iter(|| block_on(storage.find_course(account, black_box(&slug)))));
    group.finish();
}

/// Measures a page by depth, number of courses and limit: the storage's keyset against OFFSET, in plain SQL on the same file.
/// By keyset, a page costs as much as its rows, at any depth; OFFSET also reads all rows before them.
pub(crate) fn paging(criterion: &mut Criterion) {
    for courses in [1_000, 10_000, 100_000] {
        let library = Library::with_courses(courses);
        let offset = OffsetReader::open(&library.path()).expect("the library's file");
        let account = library.owner().account.as_str();
        let mut group = criterion.benchmark_group(format!("paging/{courses} courses"));
        for (place, depth) in [("first", 0), ("deep", library.deep())] {
            for limit in [10, 50, 100] {
                let page =
                    PageRequest { limit: Limit::new(limit).expect("a limit"), after: position_after(courses, depth) };
                group.bench_function(BenchmarkId::new(format!("keyset, {place}"), limit), |bencher| {
                    bencher.iter(|| library.page(black_box(&page)));
                });
                group.bench_function(BenchmarkId::new(format!("OFFSET, {place}"), limit), |bencher| {
                    bencher.iter(|| offset.page(account, limit.into(), black_box(depth)));
                });
            }
        }
        group.finish();
    }
}
