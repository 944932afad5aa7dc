//! Courses that are read together with the credential that asks for them: one call a request, and never an answer that the
//! token does not have any more.

mod failures;
mod pair;
mod refusals;

use std::time::Duration;

use catalogue_core::AccountId;
use catalogue_core::admin::AdminStorage;
use catalogue_core::limit::{LocalRateLimiter, RateLimit};
use http::Method;

use crate::app::OWNER;
use pair::Call::{Credential as Key, Detail, DetailByKey, List, ListByKey};
use pair::{ABSENT, Call, LISTS, ONE, Pair};

#[tokio::test]
async fn what_is_rendered_for_a_known_token_is_one_call() {
    let pair = Pair::new(|builder| builder.page_cache(0)).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    for _ in 0..2 {
        pair.asks(LISTS, 200, &[ListByKey]).await;
        let first = pair.asks("/api/v1/courses?limit=1", 200, &[ListByKey]).await;
        let cursor = first.json()["meta"]["nextCursor"].as_str().unwrap().to_owned();
        pair.asks(&format!("/api/v1/courses?cursor={cursor}"), 200, &[ListByKey]).await;
        pair.asks(ONE, 200, &[DetailByKey]).await;
        pair.asks(ABSENT, 404, &[DetailByKey]).await;
        pair.asks("/api/v1/courses?limit=0", 400, &[Key]).await;
        pair.asks("/api/v1/me", 200, &[Key]).await;
        pair.asks("/api/v1/nothing", 404, &[Key]).await;
    }
    let tag = pair.get(ONE).await.header("etag").unwrap().to_owned();
    pair.remote.take();
    for method in [Method::GET, Method::HEAD] {
        assert_eq!(pair.send(method, ONE, &tag).await.status, 304);
        assert_eq!(pair.remote.take(), [Key]);
    }
    assert_eq!(pair.send(Method::GET, ABSENT, "*").await.status, 404);
    assert_eq!(pair.send(Method::HEAD, LISTS, "").await.status, 200);
    assert_eq!(pair.remote.take(), [DetailByKey, ListByKey]);
}

#[tokio::test]
async fn what_is_kept_is_one_look_up() {
    let pair = Pair::new(|builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    pair.asks(LISTS, 200, &[Key]).await;
    pair.asks(ONE, 200, &[DetailByKey]).await;
    pair.asks(ONE, 200, &[Key]).await;
    pair.asks(ABSENT, 404, &[DetailByKey]).await;
    assert_eq!(pair.catalogue.page_cache().hits, 2);
}

#[tokio::test]
async fn a_change_is_in_the_very_next_answer_with_its_tag() {
    for page_cache in [0, 1 << 20] {
        let pair = Pair::new(|builder| builder.page_cache(page_cache)).await;
        for (path, by_key, plain) in [(LISTS, ListByKey, List), (ONE, DetailByKey, Detail)] {
            let before = pair.get(path).await;
            pair.remote.take();
            let title = format!("Changed before {path}");
            pair.retitle(&title).await;
            let calls: &[Call] = if page_cache == 0 { &[by_key, plain] } else { &[Key, plain] };
            let after = pair.asks(path, 200, calls).await;
            assert!(String::from_utf8_lossy(&after.body).contains(&title), "{path}");
            assert_ne!(after.header("etag"), before.header("etag"));
            assert_eq!(pair.send(Method::GET, path, after.header("etag").unwrap()).await.status, 304);
        }
    }
}

#[tokio::test]
async fn a_page_that_was_not_asked_for_since_a_change_has_the_tag_of_now() {
    let pair = Pair::new(|builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    pair.retitle("Changed").await;
    let changed = pair.asks(ONE, 200, &[DetailByKey, Detail]).await;
    assert_eq!(pair.asks(ONE, 200, &[Key]).await.header("etag"), changed.header("etag"));
    pair.asks(LISTS, 200, &[ListByKey]).await;
}

#[tokio::test]
async fn where_requests_are_limited_nothing_is_read_by_key() {
    let limiter = LocalRateLimiter::new(RateLimit::new(100, Duration::from_secs(60)).unwrap());
    let pair = Pair::new(|builder| builder.page_cache(0).rate_limiter(limiter)).await;
    for _ in 0..3 {
        pair.asks(LISTS, 200, &[Key, List]).await;
        pair.asks(ONE, 200, &[Key, Detail]).await;
    }
}

#[tokio::test]
async fn without_revisions_each_answer_is_one_call() {
    let pair = Pair::with(|remote| remote.without_revisions = true, |builder| builder).await;
    pair.asks(LISTS, 200, &[Key, List]).await;
    for title in ["One", "Two"] {
        pair.retitle(title).await;
        for (path, call) in [(LISTS, ListByKey), (ONE, DetailByKey)] {
            let answer = pair.asks(path, 200, &[call]).await;
            assert!(String::from_utf8_lossy(&answer.body).contains(title), "{path}");
        }
    }
}

#[tokio::test]
async fn an_empty_list_is_one_call_too() {
    let pair = Pair::known().await;
    for slug in ["c", "d"] {
        pair.app.storage.remove_course(&AccountId::new(OWNER), slug).await.unwrap();
    }
    pair.asks(LISTS, 200, &[ListByKey, List]).await;
    assert!(pair.asks(LISTS, 200, &[ListByKey]).await.data().as_array().unwrap().is_empty());
    pair.asks(ONE, 404, &[DetailByKey]).await;
}
