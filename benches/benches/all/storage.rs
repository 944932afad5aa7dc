//! Calls of the SQLite storage: the reads of a request, without HTTP.

use std::hint::black_box;

use catalogue_benches::{Library, block_on, course};
use catalogue_core::storage::{CourseStorage as _, CredentialStorage as _};
use criterion::Criterion;

pub(crate) fn lookups(criterion: &mut Criterion) {
    let library = Library::with_courses(10_000);
    let (storage, owner) = (&library.storage, library.owner());
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
