//! Parts of a call that can be measured through the public API: the token, its authentication, the envelope, the cursor.
//!
//! Cursor and envelope have no public entry point: their cost is the difference between two responses from memory that differ
//! in only one thing.

use std::hint::black_box;

use catalogue_benches::{Library, block_on, fill};
use catalogue_core::Catalogue;
use catalogue_core::auth::{
    Authenticator as _, BearerToken, CredentialKind, Identity, NewToken, Scopes, StoredCredentials, token_kind,
};
use catalogue_core::storage::MemoryStorage;
use criterion::Criterion;
use http::Request;

pub(crate) fn token(criterion: &mut Criterion) {
    let token = NewToken::mint(CredentialKind::ApiKey);
    let bearer = BearerToken::new(token.expose()).expect("a token");
    let stored = StoredCredentials::new(MemoryStorage::new());
    let mut group = criterion.benchmark_group("token");
    group.bench_function("format and checksum", |bencher| bencher.iter(|| token_kind(black_box(token.expose()))));
    group.bench_function("digest", |bencher| bencher.iter(|| black_box(bearer).digest()));
    group.bench_function("lookup in an empty memory storage", |bencher| {
        bencher.iter(|| block_on(stored.authenticate(black_box(bearer))));
    });
    group.finish();
}

pub(crate) fn envelope(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("envelope");
    let mut bench = |name: &str, courses: usize, target: &str| {
        let storage = MemoryStorage::new();
        let owner = block_on(fill(&storage, &[courses], 0)).expect("the memory storage accepts the data").remove(0);
        let identity = Identity::api_key(owner.account, "key", Scopes::from_names(["read:courses"]));
        let catalogue = Catalogue::with_api_keys(storage).page_cache(0).build().expect("valid defaults");
        let request = Request::get(target).body(()).expect("a request");
        group.bench_function(name, |bencher| {
            bencher.iter(|| block_on(catalogue.call_as(identity.clone(), black_box(&request).clone())));
        });
    };
    let list = "/api/v1/courses";
    let after = Library::with_courses(200).cold().page_after(100).expect("enough courses");
    bench("unknown path", 0, "/nothing");
    bench("an empty page", 0, list);
    bench("an empty page, after a cursor", 0, &after);
    bench("a page of 50", 50, list);
    bench("a page of 50, before a cursor", 51, list);
    group.finish();
}
