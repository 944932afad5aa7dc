//! Parts of a call as far as a public door leads to them: the token, who holds it, the envelope, the cursor.
//!
//! Cursor and envelope have no door of their own. A storage without revisions makes the catalogue render each answer; the
//! difference between two answers of it that differ in one thing is what the thing costs.

#![allow(missing_docs)] // the macros of criterion make items without

use std::hint::black_box;
use std::time::Duration;

use catalogue_benches::{Library, course, now, position_after};
use catalogue_core::{
    AccountId, Authenticator as _, BearerToken, Catalogue, CourseDetail, CourseListItem, CourseStorage, CredentialKind,
    Identity, MemoryStorage, NewToken, Page, PageRequest, Position, Scopes, StorageError, StoredCredentials,
    async_trait, is_api_key,
};
use criterion::{Criterion, criterion_group, criterion_main};
use http::Request;

/// Gives every caller the same page.
#[derive(Debug)]
struct OnePage {
    items: Vec<CourseListItem>,
    next: Option<Position>,
}

#[async_trait]
impl CourseStorage for OnePage {
    async fn list_courses(&self, _: &AccountId, _: &PageRequest) -> Result<Page<CourseListItem>, StorageError> {
        Ok(Page { items: self.items.clone(), next: self.next.clone() })
    }

    async fn find_course(&self, _: &AccountId, _: &str) -> Result<Option<CourseDetail>, StorageError> {
        Ok(None)
    }
}

fn token(criterion: &mut Criterion) {
    let token = NewToken::mint(CredentialKind::ApiKey);
    let bearer = BearerToken::new(token.expose()).expect("a token");
    let stored = StoredCredentials::new(MemoryStorage::new());
    let mut group = criterion.benchmark_group("token");
    group.bench_function("form and checksum", |bencher| bencher.iter(|| is_api_key(black_box(token.expose()))));
    group.bench_function("digest", |bencher| bencher.iter(|| black_box(bearer).digest()));
    group.bench_function("asked of an empty memory", |bencher| {
        bencher.iter(|| now(stored.authenticate(black_box(bearer))));
    });
    group.finish();
}

fn envelope(criterion: &mut Criterion) {
    let identity = Identity::api_key(Library::account(), "key", Scopes::from_names(["read:courses"]));
    let mut group = criterion.benchmark_group("envelope");
    let mut bench = |name: &str, page: OnePage, target: &str| {
        let authenticator = StoredCredentials::new(MemoryStorage::new());
        let catalogue = Catalogue::builder(page, authenticator).build().expect("the defaults are right");
        let request = Request::get(target).body(()).expect("a request");
        group.bench_function(name, |bencher| {
            bencher.iter(|| now(catalogue.call_as(identity.clone(), black_box(&request).clone())));
        });
    };
    let next = position_after(1_000, 500);
    let list = "/api/v1/courses";
    let after = Library::with_courses(200).cold().page_after(100);
    bench("nothing: a path outside", OnePage { items: Vec::new(), next: None }, "/nothing");
    bench("an empty page", OnePage { items: Vec::new(), next: None }, list);
    bench("an empty page, after a cursor", OnePage { items: Vec::new(), next: None }, &after);
    bench("an empty page, before a cursor", OnePage { items: Vec::new(), next }, list);
    bench("a page of 50", OnePage { items: items(), next: None }, list);
    group.finish();
}

fn items() -> Vec<CourseListItem> {
    let item = |number| {
        let course = course(&Library::account(), number);
        CourseListItem {
            slug: course.slug,
            title: course.title,
            language: course.language,
            published_at: course.published_at,
            hidden: course.hidden,
            module_count: 5,
        }
    };
    (0..50).map(item).collect()
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = token, envelope
}
criterion_main!(benches);
