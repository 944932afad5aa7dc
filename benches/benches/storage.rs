//! SQLite alone, by the calls of the storage: what a request reads before and without anything of HTTP.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;
use std::time::Duration;

use catalogue_benches::{Library, course, now, position_after};
use catalogue_core::{CourseStorage as _, CredentialStorage as _, PageRequest};
use criterion::{Criterion, criterion_group, criterion_main};

fn storage(criterion: &mut Criterion) {
    let library = Library::with_courses(10_000);
    let storage = library.storage();
    let account = Library::account();
    let digest = library.token().digest();
    let slug = course(&account, library.courses() / 2).slug;
    let pages = [("first page", 0), ("deep page", library.deep())];

    let mut group = criterion.benchmark_group("storage");
    group.bench_function("credential and revision", |bencher| {
        bencher.iter(|| now(storage.find_credential(black_box(&digest))));
    });
    group.bench_function("revision alone", |bencher| bencher.iter(|| now(storage.revision(black_box(&account)))));
    for (name, depth) in pages {
        let page = PageRequest { after: position_after(library.courses(), depth), ..PageRequest::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| now(storage.list_courses(&account, black_box(&page))));
        });
    }
    group.bench_function("detail", |bencher| bencher.iter(|| now(storage.find_course(&account, black_box(&slug)))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = storage
}
criterion_main!(benches);
