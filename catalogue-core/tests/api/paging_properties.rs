//! Properties of paging and isolation, over generated courses (decisions A7, A8; section 5.7).

use std::collections::BTreeSet;

use catalogue_core::admin::AdminStorage;
use catalogue_core::{AccountId, Course};
use proptest::prelude::*;

use crate::app::{OTHER, OWNER, TestApp, course, for_other};

/// Generates courses. Their slugs and creation seconds are close together, for many ties.
fn catalogues() -> impl Strategy<Value = Vec<Course>> {
    proptest::collection::btree_map("[a-cA-Cé～🤗]{1,4}", 0..4_i64, 0..40)
        .prop_map(|courses| courses.into_iter().map(|(slug, second)| course(&slug, second)).collect())
}

/// A change between two pages.
#[derive(Clone, Debug)]
enum Write {
    Put(String, i64),
    Remove(prop::sample::Index),
    Retitle(prop::sample::Index),
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let write = prop_oneof![
        ("[a-cA-Cé～🤗]{1,4}", 0..4_i64).prop_map(|(slug, second)| Write::Put(slug, second)),
        any::<prop::sample::Index>().prop_map(Write::Remove),
        any::<prop::sample::Index>().prop_map(Write::Retitle),
    ];
    proptest::collection::vec(write, 0..40)
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

/// Reads all pages; `between` runs before each further page.
async fn read_all_pages(app: &TestApp, token: &str, limit: usize, mut between: impl AsyncFnMut()) -> Vec<String> {
    let mut slugs_read = Vec::new();
    let mut target = format!("/api/v1/courses?limit={limit}");
    loop {
        let response = app.get(token, &target).await;
        let page = response.data();
        let items = page.as_array().unwrap();
        slugs_read.extend(items.iter().map(|item| item["slug"].as_str().unwrap().to_owned()));
        let json = response.json();
        let Some(cursor) = json["meta"]["nextCursor"].as_str() else { return slugs_read };
        assert_eq!(items.len(), limit, "only the last page may be short");
        target = format!("/api/v1/courses?limit={limit}&cursor={cursor}");
        between().await;
    }
}

fn sorted_slugs(mut courses: Vec<Course>) -> Vec<String> {
    courses.sort_by(|one, two| (two.created_at, &two.slug).cmp(&(one.created_at, &one.slug)));
    courses.into_iter().map(|course| course.slug).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_concatenate_to_full_list(own in catalogues(), others in catalogues(), limit in 1..=12_usize) {
        run(async {
            let app = TestApp::new().await;
            app.put(own.clone()).await;
            app.put(others.clone().into_iter().map(for_other)).await;
            for (account, courses) in [(OWNER, own), (OTHER, others)] {
                let token = app.key(account, "read:courses").await;
                prop_assert_eq!(read_all_pages(&app, &token, limit, async || {}).await, sorted_slugs(courses));
            }
            Ok(())
        })?;
    }

    #[test]
    fn paging_during_changes_repeats_and_skips_nothing(
        courses in catalogues(), writes in writes(), limit in 1..=5_usize,
    ) {
        run(async {
            let app = TestApp::new().await;
            app.put(courses.clone()).await;
            let token = app.key(OWNER, "read:courses").await;
            let slugs: Vec<String> = courses.iter().map(|course| course.slug.clone()).collect();
            let mut stayed: BTreeSet<String> = slugs.iter().cloned().collect();
            let mut created = BTreeSet::new();
            let mut writes = writes.into_iter();
            let between = async || {
                let owner = AccountId::new(OWNER);
                match writes.next() {
                    // An existing slug keeps its position: moving a course means deleting and creating it.
                    Some(Write::Put(slug, second)) if !slugs.contains(&slug) && !created.contains(&slug) => {
                        created.insert(slug.clone());
                        app.put([course(&slug, second)]).await;
                    }
                    Some(Write::Remove(index)) if !slugs.is_empty() => {
                        let slug = index.get(&slugs);
                        app.storage.remove_course(&owner, slug).await.unwrap();
                        stayed.remove(slug);
                    }
                    Some(Write::Retitle(index)) if !courses.is_empty() => {
                        let changed = index.get(&courses).clone();
                        if stayed.contains(&changed.slug) {
                            app.put([Course { title: "Changed".to_owned(), ..changed }]).await;
                        }
                    }
                    _ => {}
                }
            };
            let slugs_read = read_all_pages(&app, &token, limit, between).await;
            let distinct: BTreeSet<String> = slugs_read.iter().cloned().collect();
            prop_assert_eq!(distinct.len(), slugs_read.len(), "a course is repeated: {:?}", slugs_read);
            prop_assert!(stayed.is_subset(&distinct), "skipped: {:?}", stayed.difference(&distinct));
            Ok(())
        })?;
    }
}
